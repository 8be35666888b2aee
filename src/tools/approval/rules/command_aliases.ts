/**
 * Other names of the programs and sub-commands that deny rules forbid.
 *
 * @module
 */

/** Groups of sub-commands of a program that do the same. */
const SAME_COMMANDS: ReadonlyMap<string, readonly (readonly string[])[]> = createGroups({
  npm: [
    "install i in ins inst insta instal isnt isnta isntal isntall add",
    "uninstall un unlink remove rm r",
    "ci clean-install ic install-clean isntall-clean",
    "run-script run rum urn",
    "test t tst",
    "exec x",
    "update up upgrade udpate",
  ],
  pnpm: ["install i add", "remove rm uninstall un", "update up upgrade"],
  bun: ["install i add a", "remove rm"],
  cargo: ["build b", "check c", "run r", "test t", "remove rm"],
  git: ["push send-pack http-push"],
});

function createGroups(groups: Readonly<Record<string, readonly string[]>>) {
  return new Map(
    Object.entries(groups).map(([program, lists]) => [
      program,
      lists.map((names) => names.split(" ")),
    ]),
  );
}

/** Sub-commands of npm, which it also takes abbreviated. */
const NPM_COMMANDS: readonly string[] =
  "access adduser config deprecate dist-tag exec install link login owner publish run-script token uninstall unpublish update version"
    .split(" ");

/** Returns the names that a sub-command may have: as it is written, and others for the same. */
export function listCommandNames(program: string, word: string): readonly string[] {
  const groups = SAME_COMMANDS.get(program) ?? [];
  const abbreviated = program === "npm" && word.length > 1
    ? NPM_COMMANDS.filter((name) => name.startsWith(word))
    : [];
  return [word, ...groups.filter((group) => group.includes(word)).flat(), ...abbreviated];
}

/** Programs that run all of their operands, in any order and with settings between them, as in `make A=b clean deploy`. */
const TARGET_RUNNERS =
  /^(?:g?make|ninja|mvn|mvnw|gradle|gradlew|ant|sbt|lein|just|task|mage|rake|invoke|doit|bazel|turbo)$/;

/** Sub-commands of package managers that are no scripts. */
const MANAGER_COMMANDS =
  /^(?:add|audit|create|dedupe|dlx|exec|import|i|init|install|link|pack|publish|remove|unlink|update|upgrade|version|why|x)$/;

/**
 * Whether a word before the sub-command, with the word that follows it, leaves the meaning of a command as it is: another
 * target, the toolchain in `cargo +nightly publish`, the noun in `docker image push`, the extension in `git subtree push`,
 * or `run` before a script.
 */
export function canPrecede(program: string, word: string, next = ""): boolean {
  if (TARGET_RUNNERS.test(program)) return true;
  switch (program) {
    case "cargo":
      return word.startsWith("+");
    case "docker":
    case "podman":
      return word === "container" || word === "image" && next !== "rm";
    case "git":
      return /^(?:lfs|subtree)$/.test(word) && /^(?:push|pull|-.*)$/.test(next);
    case "npm":
      return /^(?:run(?:-script)?|rum|urn)$/.test(word) &&
        /^(?:test|start|stop|restart)$/.test(next);
    case "pnpm":
    case "yarn":
    case "bun":
      return word === "run" && !MANAGER_COMMANDS.test(next);
    default:
      return false;
  }
}

/** Whether a command may lack the first argument of a rule, such as `run` in `yarn run deploy`. */
export function canOmitFirst(program: string, [first, second]: readonly string[]): boolean {
  return /^(?:docker|podman|npm|pnpm|yarn|bun)$/.test(program) && first !== undefined &&
    second !== undefined && canPrecede(program, first, second);
}

/**
 * Returns the names that a program may have: as it is written, without the extension of Windows, and without a version or
 * its last part, as in `pip3`, `python3.12` and `npx eslint@8`.
 */
export function listProgramNames(name: string): readonly string[] {
  const end = name.slice(1).search(/@|\[|[<>=~!]=|[<>]/) + 1;
  const program = (end === 0 ? name : name.slice(0, end)).replace(/\.exe$/i, "")
    .replace(/^(mvn|gradle)w(?:\.bat|\.cmd)?$/, "$1");
  const [, base = "", major = ""] = /^([a-z][a-z+_-]*?)(-?\d+)(?:\.[\d.]*)?$/i.exec(program) ??
    [];
  return [...new Set([name, program, base, base + major])].filter((text) => text !== "");
}
