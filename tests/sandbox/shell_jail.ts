/**
 * Runs shell commands in a jail and reports which programs they started and which files they changed.
 *
 * The jail is bubblewrap with namespaces of its own and an unprivileged user. Of the system it has only libraries. In
 * place of each program there is a stub, which records its start. The stubs of programs that read or write files then
 * run the program, on files that exist only in the jail; the other programs do nothing.
 *
 * @module
 */

/** Effects of a command. */
export interface CommandEffects {
  /** Names and arguments of the started programs. The scripts of the project have the name `project:` and their own. */
  readonly started: readonly (readonly string[])[];
  /** Differences between the files before and after, one line per file. */
  readonly changes: readonly string[];
}

/** Programs that run in the jail after their start is recorded. */
const RUN_PROGRAMS =
  ("arch base64 basename bash cat chmod cksum cmp column comm cp cut date df diff dirname du env expand expr file find " +
    "fmt fold git grep groups head hexdump hostname id jq ln ls md5sum mkdir mv nice nl nohup nproc od paste readlink " +
    "realpath rev rg rm seq setsid sh sha1sum sha256sum sha512sum sleep sort stat stdbuf strings tac tail tee timeout " +
    "touch tr tree truncate uname uniq wc which whoami xargs xxd sed awk time").split(" ");

/** Programs whose start is only recorded. */
const RECORDED_PROGRAMS =
  ("cargo curl dash dd deno doas docker go make mkfs node npm npx perl pip python python3 shutdown ssh su sudo wget zsh")
    .split(" ");

/** The files of the project, in which the commands run. Scripts are executable. */
const PROJECT_FILES: Readonly<Record<string, string>> = {
  "a.txt": "b\na\na\n",
  "b.txt": "x=1\n",
  ".env": "KEY=secret\n",
  "src/a.ts": "export {};\n",
};

const PROJECT_SCRIPTS = ["x", "ls", "deno", "0/ls", "src/x"];

const STUB = `#!/real/bash -p
name=\${0##*/}
case $0 in /usr/*|/bin/*|/sbin/*) ;; *) name=project:$name ;; esac
# One file for each process, since the programs of a pipe start at the same time.
{ printf '%s\\x1f' "$name" "$@"; printf '\\x1e'; } >>/record/started/$$
case " $RUN_PROGRAMS " in *" $name "*) exec -a "$name" "/real/$name" "$@" ;; esac
`.replace("$RUN_PROGRAMS", RUN_PROGRAMS.join(" "));

/** Runs each file in /commands and prints its name, the record of the stubs, and the changes, each followed by NUL. */
const DRIVER = `#!/real/bash -p
# git updates the times in its index when it reads files, so neither the index nor its directory is compared.
snapshot() {
  /real/find /work /home /tmp ! -path /work/.git ! -path /work/.git/index -printf '%p %i %C@ %s %l\\n'
}
renew() {
  cd / && /real/rm -rf /work /home /tmp && /real/mkdir -p /work /home/user /tmp && /real/cp -R /project/. /work
  before=$(snapshot)
}
/real/mkdir /record/started
renew
for file in /commands/*; do
  IFS= read -r -d '' command <"$file"
  (
    cd /work && ulimit -f 4096
    exec /real/env -i PATH=/usr/local/bin:/usr/bin:/bin HOME=/home/user TMPDIR=/tmp GIT_OPTIONAL_LOCKS=0 GIT_PAGER=cat \
      GIT_CONFIG_NOSYSTEM=1 LC_ALL=C.UTF-8 /real/timeout -s KILL 3 /real/bash -c 'eval "shift; $1"; wait' bash "$command"
  ) </dev/null >/dev/null 2>&1
  kill -KILL -1
  after=$(snapshot)
  printf '%s\\0' "\${file##*/}"
  for record in /record/started/*; do [ -e "$record" ] && printf %s "$(<"$record")"; done
  printf '\\0'
  if [[ $after != "$before" ]]; then
    /real/diff <(/real/sort <<<"$before") <(/real/sort <<<"$after")
    renew
  fi
  printf '\\0'
  /real/rm -rf /record/started/* && /real/cp /project/.git/index /work/.git/index
done
`;

/** A jail. Disposing it removes its files. */
export class ShellJail implements Disposable {
  readonly #directory = Deno.makeTempDirSync({ prefix: "swink_jail_" });

  constructor() {
    const directory = this.#directory;
    Deno.chmodSync(directory, 0o755);
    Deno.mkdirSync(`${directory}/bin`);
    for (const name of [...RUN_PROGRAMS, ...RECORDED_PROGRAMS]) {
      writeScript(`${directory}/bin/${name}`, STUB);
    }
    writeScript(`${directory}/driver`, DRIVER);
    createProject(`${directory}/project`);
  }

  /** Runs commands one after the other, each on new files. */
  async run(commands: readonly string[], signal: AbortSignal): Promise<CommandEffects[]> {
    const directory = Deno.makeTempDirSync({ dir: this.#directory, prefix: "commands_" });
    Deno.chmodSync(directory, 0o755);
    for (const [index, command] of commands.entries()) {
      Deno.writeTextFileSync(`${directory}/${String(index).padStart(6, "0")}`, `${command}\0`);
    }
    const { code, stdout, stderr } = await startInJail([
      ...["--ro-bind", "/usr", "/usr", "--ro-bind", "/usr/bin", "/real"],
      ...["--ro-bind", `${this.#directory}/bin`, "/usr/bin", "--tmpfs", "/usr/local"],
      ...["--tmpfs", "/usr/sbin", "--symlink", "usr/bin", "/bin", "--symlink", "usr/sbin", "/sbin"],
      ...["--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64"],
      ...["--ro-bind-try", "/etc/alternatives", "/etc/alternatives"],
      ...["--ro-bind", `${this.#directory}/project`, "/project"],
      ...["--ro-bind", directory, "/commands", "--tmpfs", "/record"],
      ...["--ro-bind", `${this.#directory}/driver`, "/driver", "/real/bash", "-p", "/driver"],
    ], signal);
    if (code !== 0) throw new Error(`The jail failed: ${new TextDecoder().decode(stderr)}`);
    return parseEffects(new TextDecoder().decode(stdout), commands.length);
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.#directory, { recursive: true });
  }
}

/** Whether this machine can run a jail. */
export async function canRunJail(signal: AbortSignal): Promise<boolean> {
  if (Deno.build.os !== "linux") return false;
  try {
    const { success } = await startInJail(["--ro-bind", "/", "/", "/bin/true"], signal);
    return success;
  } catch {
    return false;
  }
}

/** Starts bubblewrap, as another user if this one is the superuser. */
async function startInJail(
  args: readonly string[],
  signal: AbortSignal,
): Promise<Deno.CommandOutput> {
  const command = [
    ...["bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--clearenv"],
    ...["--cap-drop", "ALL", "--tmpfs", "/", "--proc", "/proc", "--dev", "/dev", ...args],
  ];
  const dropRights = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"];
  const [program = "", ...rest] = Deno.uid() === 0 ? [...dropRights, ...command] : command;
  return await new Deno.Command(program, { args: rest, stdin: "null", signal }).output();
}

function parseEffects(output: string, count: number): CommandEffects[] {
  const parts = output.split("\0");
  return Array.from({ length: count }, (_, index) => ({
    started: splitItems(parts[index * 3 + 1] ?? "", "\x1e").map((start) =>
      splitItems(start, "\x1f")
    ),
    changes: (parts[index * 3 + 2] ?? "").split("\n").filter((line) => /^[<>]/.test(line)),
  }));
}

/** Splits text in which each item is followed by a separator. */
function splitItems(text: string, separator: string): string[] {
  return text.split(separator).slice(0, -1);
}

function writeScript(path: string, text: string): void {
  Deno.mkdirSync(path.slice(0, path.lastIndexOf("/")), { recursive: true });
  Deno.writeTextFileSync(path, text);
  Deno.chmodSync(path, 0o755);
}

/** Creates the project, in a repository with one commit and one change. */
function createProject(directory: string): void {
  Deno.mkdirSync(`${directory}/src`, { recursive: true });
  for (const [name, text] of Object.entries(PROJECT_FILES)) {
    Deno.writeTextFileSync(`${directory}/${name}`, text);
  }
  for (const name of PROJECT_SCRIPTS) writeScript(`${directory}/${name}`, STUB);
  runGit(directory, "init", "-q", "-b", "main");
  runGit(directory, "add", ".");
  runGit(directory, "commit", "-q", "-m", "Add files");
  Deno.writeTextFileSync(`${directory}/a.txt`, "changed\n");
}

function runGit(cwd: string, ...args: string[]): void {
  const identity = ["-c", "user.name=Test", "-c", "user.email=test@example.com"];
  const env = { PATH: Deno.env.get("PATH") ?? "/usr/bin:/bin", GIT_CONFIG_GLOBAL: "/dev/null" };
  const { success } = new Deno.Command("git", {
    args: [...identity, ...args],
    cwd,
    env,
    clearEnv: true,
  }).outputSync();
  if (!success) throw new Error(`git ${args.join(" ")} failed`);
}
