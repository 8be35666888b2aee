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

/**
 * Returns the names that a program may have: as it is written, without the extension of Windows, and without a version or
 * its last part, as in `pip3` and `python3.12`.
 */
export function listProgramNames(name: string): readonly string[] {
  const program = name.replace(/\.exe$/i, "");
  const [, base = "", major = ""] = /^([a-z][a-z+_-]*?)(-?\d+)[\d.]*$/i.exec(program) ?? [];
  return [...new Set([name, program, base, base + major])].filter((text) => text !== "");
}
