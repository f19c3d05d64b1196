//! A program that knows how it is deployed.

/// The plain template of this build.
const TEMPLATE: &str = include_str!(concat!(env!("OUT_DIR"), "/service-template.yaml"));

fn main() {
    print!("{TEMPLATE}");
}
