"""Deploys on two hosts: sshd on ports of this machine, whose scripts write down what they did, and where."""

import contextlib
import getpass
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
SECRET = "correct-horse-battery"
SECRETS = (SECRET, SECRET[::-1])


def processes():
    """The processes that there are: number, arguments, and environment as far as it may be seen."""
    for directory in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            arguments = (directory / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            try:
                environment = (directory / "environ").read_bytes().decode(errors="replace")
            except OSError:
                environment = ""
            yield int(directory.name), arguments, environment


def wait_for(what, seconds=120):
    """Waits until something is so."""
    end = time.monotonic() + seconds
    while not (found := what()):
        if time.monotonic() > end:
            raise SystemExit(f"tests/outside/operate: waited too long: {what.__doc__ or what}")
        time.sleep(0.05)
    return found


class Host:
    """An sshd of its own."""

    def __init__(self, name, scratch, client_key):
        self.name, self.directory = name, scratch / name
        self.temporary = self.directory / "tmp"
        self.temporary.mkdir(parents=True)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        key = self.directory / "key"
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
        authorized = self.directory / "authorized"
        shutil.copy(f"{client_key}.pub", authorized)
        (self.directory / "config").write_text(f"""
            Port {self.port}
            ListenAddress 127.0.0.1
            HostKey {key}
            AuthorizedKeysFile {authorized}
            PidFile {self.directory}/pid
            StrictModes no
            UsePAM no
            PasswordAuthentication no
            PermitRootLogin prohibit-password
            Subsystem sftp internal-sftp
            SetEnv WHERE={name} PLACE={scratch} TMPDIR={self.temporary}
        """)
        self.process = None

    def begin(self):
        """Listens."""
        program = shutil.which("sshd", path=f"{os.environ['PATH']}:/usr/sbin")
        log = (self.directory / "log").open("a")
        self.process = subprocess.Popen([program, "-D", "-e", "-f", self.directory / "config"], stderr=log, stdin=subprocess.DEVNULL)

        def answers():
            """an sshd that answers"""
            with socket.socket() as client:
                return client.connect_ex(("127.0.0.1", self.port)) == 0

        wait_for(answers)

    def end(self):
        """Ends all connections, but not what they run."""
        if self.process:
            own = {self.process.pid}
            parents = {}
            for number, _, _ in processes():
                with contextlib.suppress(OSError):
                    status = Path(f"/proc/{number}/status").read_text()
                    parents[number] = (int(re.search(r"PPid:\s(\d+)", status)[1]), "sshd" in status.splitlines()[0])
            for _ in range(4):
                own |= {number for number, (parent, is_sshd) in parents.items() if parent in own and is_sshd}
            for number in own:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(number, signal.SIGKILL)
            self.process.wait()
            self.process = None


class Trial:
    """Two hosts, and a store of instances that are deployed on them."""

    def __init__(self, cuvee, scratch):
        self.cuvee, self.scratch = cuvee, scratch
        self.key = scratch / "client"
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.key], check=True)
        self.hosts = {name: Host(name, scratch, self.key) for name in ("web", "back")}
        self.template = shutil.copytree(HERE / "hosts", scratch / "template") / "template.yaml"
        # Patterns in a file, so that whoever looks for them does not have them among its arguments.
        (scratch / "secret").write_text(f"{SECRET}\n{SECRET[::-1]}\n")
        (scratch / "inputs.yaml").write_text(f"password: {SECRET}\n")
        (scratch / "here").mkdir()
        self.seen = set()

    def provider(self, name, port=None):
        host = self.hosts[name]
        return f"--provider={name}=host:127.0.0.1:{port or host.port},user={getpass.getuser()},key={self.key}"

    def command(self, instance, *more, providers=None):
        """A call of `cuvee instance run`."""
        providers = providers or [self.provider("web"), self.provider("back")]
        inputs = f"--deployment-inputs={self.scratch}/inputs.yaml"
        template = [] if "--undeploy" in more else [self.template, inputs]
        return [self.cuvee, "instance", "run", instance, *template, "--yes", f"--store={self.scratch}/store", *providers, *more]

    def begin(self, *words, **more):
        environment = {**os.environ, "WHERE": "here", "PLACE": str(self.scratch), "TMPDIR": str(self.scratch / "here")}
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        return subprocess.Popen(self.command(*words, **more), env=environment, **pipes)

    def run(self, *words, **more):
        """What a run says, and its exit code."""
        process = self.begin(*words, **more)
        return process.communicate(timeout=300)[0], process.returncode

    def said(self):
        """What was done since the last question."""
        file = self.scratch / "said"
        lines = file.read_text().splitlines() if file.exists() else []
        file.unlink(missing_ok=True)
        return lines

    def want(self, what):
        """Tells the script that is called last what it is to do."""
        (self.scratch / "wanted").write_text(what)

    def watch(self, over):
        """Looks for secrets in the arguments of all processes."""
        while not over.wait(0.01):
            self.seen |= {arguments for _, arguments, _ in processes() if any(secret in arguments for secret in SECRETS)}

    def left(self):
        """What a run left for longer than ssh keeps a connection that nobody uses, which is a minute."""
        end = time.monotonic() + 75
        while (rest := self.left_now()) and time.monotonic() < end:
            time.sleep(0.2)
        return rest

    def left_now(self):
        """Files of hosts and of this machine, processes, connections."""
        files = [path.name for host in self.hosts.values() for path in host.temporary.iterdir()]
        files += [path.name for path in (self.scratch / "here").iterdir()]
        run = [arguments for _, arguments, environment in processes() if f"PLACE={self.scratch}" in environment and "sleep" in arguments]
        connections = [arguments for _, arguments, _ in processes() if str(self.scratch / "here") in arguments]
        return files + run + connections

    def end_rest(self):
        """Ends what scripts left on purpose."""
        for number, arguments, environment in processes():
            if f"PLACE={self.scratch}" in environment and re.match("sleep|yes", arguments):
                os.kill(number, signal.SIGKILL)


DEPLOYED = [
    "back node.base/create create table guests; 21 letters, inputs 600",
    "back relation.data@1.node.shop/post_configure_target shop -> base",
    "back node.base/start starts, knows 0 secrets, is below tmp.",
    "web relation.data@1.node.shop/pre_configure_source shop -> base 5432",
    "web node.shop/configure 5433 21 True",
    "web node.shop/start begins",
    "web node.shop/start ends",
]


def holds(name, found, expected):
    """Ends the test if something is not as it should be."""
    if found != expected:
        raise SystemExit(f"tests/outside/operate: {name}\n--- is\n{found}\n--- should be\n{expected}")


def has(name, text, *parts):
    for part in parts:
        if part not in text:
            raise SystemExit(f"tests/outside/operate: {name}: there is no `{part}` in\n{text}")


def deploys(trial):
    """All is done where it has to be, and leaves nothing."""
    said, code = trial.run("shop")
    holds(f"deploying: {said}", (trial.said(), code), (DEPLOYED, 0))
    has("deploying", said, "url: http://shop:5432", f"@127.0.0.1:{trial.hosts['back'].port}")
    holds("what is left", trial.left(), [])
    undone, code = trial.run("shop", "--undeploy")
    expected = ["web node.shop/delete deleted", "back node.base/delete deleted"]
    holds(f"undeploying: {undone}", (trial.said(), code), (expected, 0))


def refuses(trial):
    """A host that does not answer is told before anything runs."""
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        port = nobody.getsockname()[1]
        said, code = trial.run("silent", providers=[trial.provider("web"), trial.provider("back", port)])
    holds(f"nobody answers: {said}", (trial.said(), code), ([], 1))
    has("nobody answers", said, "unreachable-host", "Connection refused", "try it by hand", f"-p {port}")


def begun(trial):
    def begins():
        """the step that hangs"""
        return "start begins" in (trial.scratch / "said").read_text() if (trial.scratch / "said").exists() else False

    wait_for(begins)


def loses(trial):
    """A connection that is lost is a failed step; trying again ends what the first attempt left there."""
    for again in (False, True):
        trial.want("hang")
        name = f"lost-{again}".lower()
        process = trial.begin(name, *(["--retries=3", "--retry-delay=1s"] if again else []))
        begun(trial)
        trial.hosts["web"].end()
        trial.want("")
        if again:
            time.sleep(0.5)
            trial.hosts["web"].begin()
        said, _ = process.communicate(timeout=300)
        has(f"a lost connection, again: {again}", said, "the connection to", "was lost")
        holds(f"exit code, again: {again}\n{said}", process.returncode, 0 if again else 1)
        if not again:
            trial.hosts["web"].begin()
            said, code = trial.run(name)
            holds(f"going on: {said}", code, 0)
        trial.said()
        holds(f"what a lost connection left, again: {again}", trial.left(), [])


def ends(trial):
    """What takes too long is ended on its host, too."""
    trial.want("hang")
    template = trial.template.read_text()
    trial.template.write_text(template.replace("timeout: 20", "timeout: 1"))
    said, code = trial.run("late")
    trial.template.write_text(template)
    has("a step that is late", said, "it took longer than 1 s")
    holds("a step that is late", (code, trial.left()), (1, []))
    # So is what is stopped.
    process = trial.begin("stopped")
    trial.said()
    begun(trial)
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=300)
    holds(f"a run that is stopped\n{said}", (process.returncode, trial.left()), (1, []))
    trial.said()


def leaves(trial):
    """Children of a script do not delay the run, and are told."""
    for what in ("child", "flood"):
        trial.want(what)
        began = time.monotonic()
        said, code = trial.run(what)
        took = time.monotonic() - began
        trial.end_rest()
        holds(f"{what}: {said}", code, 0)
        has(what, said, "processes that it began still run")
        if took > 250:
            raise SystemExit(f"tests/outside/operate: {what} took {took:.0f} s")
        trial.said()


def fails(trial):
    """255 is also a code of a command."""
    trial.want("255")
    said, code = trial.run("code")
    holds(f"255: {said}", (code, trial.left()), (1, []))
    has("255", said, "exit code 255")


def main():
    wanted = sys.argv[2:]
    with tempfile.TemporaryDirectory(prefix="hosts-") as scratch:
        trial = Trial(Path(sys.argv[1]), Path(scratch))
        over = threading.Event()
        watch = threading.Thread(target=trial.watch, args=(over,))
        try:
            for host in trial.hosts.values():
                host.begin()
            watch.start()
            for check in (deploys, refuses, loses, ends, leaves, fails):
                if not wanted or check.__name__ in wanted:
                    trial.want("")
                    check(trial)
                    trial.said()
            over.set()
            watch.join()
            holds("secrets among arguments", trial.seen, set())
            kept = subprocess.run(["grep", "-rlE", "|".join(SECRETS), Path(scratch) / "store"], capture_output=True, text=True, check=False)
            holds("secrets in the store", kept.stdout, "")
        finally:
            over.set()
            trial.end_rest()
            for host in trial.hosts.values():
                host.end()
                known = f"[127.0.0.1]:{host.port}"
                subprocess.run(["ssh-keygen", "-q", "-R", known], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    print("tests/outside/operate: two hosts over ssh did what they had to")


main()
