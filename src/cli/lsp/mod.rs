//! Runs `cuvee lsp`, the language server.
//!
//! The server is three processes of the same program. The one that the editor starts speaks the
//! protocol and holds the documents; it computes nothing, so it is always there. Two workers
//! compute: one what the text says and what is asked at a place, the other what only some variants
//! have. A template that ends a worker, because it runs out of stack or memory or meets a mistake of
//! ours, does not end the session: the worker is started again, and goes on with the next change.
//! Threads would not do: a release ends with a panic, since code that unwinds is a tenth of the
//! command, and nothing catches a stack that is too small.
//!
//! Types of the protocol are written here as far as they are used. A crate with all of them takes a
//! megabyte of the command for a dozen messages; the tests read with it what is written here.

mod ask;
mod commands;
mod connection;
mod diagnostics;
mod documents;
mod place;
mod protocol;
mod pulled;
mod rename;
mod root;
mod server;
mod settings;
mod worker;
mod workers;

use super::Outcome;
use super::args::{LookupArgs, LspArgs};
use super::rejected;
use cuvee::diagnostic::{Code, Diagnostic};
use settings::ImportLookup;
use std::process::ExitCode;

/// Serves an editor until it says goodbye, or is a worker of a server.
pub(crate) fn run(args: &LspArgs) -> Outcome {
    if args.worker {
        worker::run();
        return Ok(ExitCode::SUCCESS);
    }
    let LookupArgs { mappings, profile_paths } = args.imports.clone();
    let served = server::serve(ImportLookup { mappings, profile_paths }).map_err(|error| {
        let message = format!("cannot start a worker: {error}");
        rejected(Diagnostic::error(Code::File, message))
    })?;
    Ok(ExitCode::from(u8::from(!served)))
}
