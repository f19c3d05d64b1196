//! Lets commands answer in place of technology plugins.

use super::args::OptionArgs;
use super::{output, watch};
use cuvee::{Resolver, operate};

/// Adds the commands in the arguments.
pub(super) fn added(resolver: Resolver, args: &OptionArgs) -> Resolver {
    args.plugins.iter().fold(resolver, |resolver, (name, command)| {
        let (command, limit) = (command.clone(), args.plugin_timeout);
        resolver.technology_plugin(name, move |request| {
            output::clean_up_on_interrupt();
            watch::phase("asking plugins");
            let answer = operate::ask(&command, request.to_json(), limit, &output::end_group_too);
            output::end_group_too(0);
            answer
        })
    })
}
