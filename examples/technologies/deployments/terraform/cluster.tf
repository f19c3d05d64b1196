resource "example_cluster" "cluster" {
  nodes = 3
}
