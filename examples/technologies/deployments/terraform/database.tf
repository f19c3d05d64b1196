resource "example_machine" "database" {
  user_data = "apt-get install --yes postgresql-16"
}
