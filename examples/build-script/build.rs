// Resolves the template for the profile that is built: `cargo build` gets the variant dev, `cargo
// build --release` gets prod.

use std::path::Path;
use std::process::ExitCode;
use std::{env, error, fs};

fn main() -> ExitCode {
    match build() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            match error.downcast_ref::<cuvee::Failure>() {
                // As `cuvee resolve` shows it.
                Some(failure) => eprint!("{}", failure.render()),
                None => eprintln!("{error}"),
            }
            ExitCode::FAILURE
        }
    }
}

fn build() -> Result<(), Box<dyn error::Error>> {
    let preset = if env::var("PROFILE")? == "release" { "prod" } else { "dev" };
    let resolution = cuvee::Resolver::new("service-template.yaml").preset(preset).resolve()?;
    fs::write(Path::new(&env::var("OUT_DIR")?).join("service-template.yaml"), resolution.to_yaml())?;
    println!("cargo:rerun-if-changed=build.rs");
    for source in resolution.sources() {
        println!("cargo:rerun-if-changed={}", source.display());
    }
    Ok(())
}
