resource "example_machine" "machine" {
  memory = "8 GB"
}
