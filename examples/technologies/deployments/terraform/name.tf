resource "example_dns_record" "name" {
  name = "notes.example.com"
}
