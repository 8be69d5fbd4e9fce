//! The `asof` command: arguments in, text out. Everything it does goes through the public API.

mod cli;

fn main() -> std::process::ExitCode {
    cli::run(std::env::args_os())
}
