//! The entry point of the command line: reads the arguments and runs the command that they name.

mod cli;

use cli::args::{Command, CommandLine};
use cli::{
    analyze, assign, complete, convert, diff, enrich, explain, explain_code, export, graph, import,
    init, inputs, matrix, misuse, options, packaging, plan, quality, report, reporter::Reporter,
    resolve, substitute, test, types, validate, variants, watch,
};
use std::process::ExitCode;

/// The allocator, since those of systems are slower.
#[cfg(not(target_env = "musl"))]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The allocator of static builds, which are made where nothing compiles C for them.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

fn main() -> ExitCode {
    #[cfg(target_os = "linux")]
    cli::pages::begin_small();
    cli::output::refuse_large_files();
    let arguments = CommandLine::from_command_line()
        .unwrap_or_else(|(error, format)| misuse::exit(&error, format));
    let reporter = Reporter::new(&arguments.messages);
    watch::begin(reporter.shows_progress());
    if let Some(time) = arguments.watch.timeout.filter(|_| !arguments.command.keeps_time()) {
        let reporter = reporter.clone();
        watch::give_up_after(time, move || reporter.give_up());
    }
    let outcome = match &arguments.command {
        Command::Resolve(args) => resolve::run(args, &arguments.watch, &reporter),
        Command::Test(args) => test::run(args),
        Command::Options(args) => options::run(args, &reporter),
        Command::ExplainCode(args) => explain_code::run(args),
        Command::Analyze(args) => analyze::run(args, &reporter),
        Command::Explain(args) => explain::run(args, &reporter),
        Command::Inputs(args) => inputs::run(args, &reporter),
        Command::Variants(args) => variants::run(args, &reporter),
        Command::Graph(args) => graph::run(args, &reporter),
        Command::Plan(args) => plan::run(args, &reporter),
        Command::Substitute(args) => substitute::run(args, &arguments.watch, &reporter),
        Command::Instance(args) => cli::instance::run(args, &reporter, arguments.messages.color),
        Command::Matrix(args) => matrix::run(args),
        Command::Report(args) => report::run(args),
        Command::Diff(args) => diff::run(args, arguments.messages.color, &reporter),
        Command::Completions(args) => packaging::completions(args),
        Command::Complete(args) => return complete::run(args),
        #[cfg(feature = "lsp")]
        Command::Lsp(args) => cli::lsp::run(args),
        Command::Man(args) => packaging::man(args),
        Command::Export(args) => export::run(args),
        Command::Import(args) => import::run(args),
        Command::Init(args) => init::run(args, &reporter),
        Command::Convert(args) => convert::run(args, &reporter),
        Command::Types(args) => types::run(args, &reporter),
        Command::Assign(args) => assign::run(args, &reporter),
        Command::Enrich(args) => enrich::run(args, &reporter),
        Command::Quality(args) => quality::run(args, &reporter),
        Command::Validate(args) => validate::run(args, &reporter),
    };
    watch::end(&arguments.watch);
    outcome.unwrap_or_else(|failure| reporter.failed(&failure))
}
