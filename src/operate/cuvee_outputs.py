"""Writes what a playbook gives with `set_stats` to the file that CUVEE_OUTPUTS names."""

import json
import os

from ansible.plugins.callback import CallbackBase


class CallbackModule(CallbackBase):
    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "aggregate"
    CALLBACK_NAME = "cuvee_outputs"
    CALLBACK_NEEDS_ENABLED = True

    def v2_playbook_on_stats(self, stats):
        given = {}
        for values in stats.custom.values():
            given.update(values)
        path = os.environ.get("CUVEE_OUTPUTS")
        if given and path:
            with open(path, "w", encoding="utf-8") as file:
                json.dump(given, file, default=str)
