resource "example_machine" "notes" {
  user_data = "curl https://downloads.example.com/notes-3.0.tar.gz | tar -xz -C /opt/notes"
}
