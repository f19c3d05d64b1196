//! Writes the JavaScript beside a module: `cuvee-bindgen MODULE DIRECTORY`.

use std::process::ExitCode;
use wasm_bindgen_cli_support::Bindgen;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let (Some(module), Some(directory)) = (arguments.next(), arguments.next()) else {
        eprintln!("usage: cuvee-bindgen MODULE DIRECTORY");
        return ExitCode::from(2);
    };
    match write(&module, &directory) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("cannot write the JavaScript for {module}: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn write(
    module: &str,
    directory: &str,
) -> Result<(), Box<dyn std::error::Error + Send + Sync + 'static>> {
    let mut bindgen = Bindgen::new();
    // The module is loaded by hand, and made anew after a trap; types are written by hand. Names stay for the optimiser.
    bindgen
        .input_path(module)
        .out_name("bindings")
        .web(true)?
        .omit_default_module_path(true)
        .reset_state_function(true)
        .typescript(false)
        .remove_producers_section(true);
    Ok(bindgen.generate(directory)?)
}
