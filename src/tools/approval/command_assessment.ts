/**
 * Judges a shell command by what it runs: harmless, ordinary, or dangerous. A judge helps a person who is asked; what
 * a command can really do is the sandbox's business.
 *
 * @module
 */

import { createFileRules, PROTECTED_FILES } from "../files/file_rules.ts";
import { compileGlob } from "../../core/ignore/glob.ts";
import { findExecutedCommands, getProgram } from "./executed_commands.ts";
import type { ShellWord, SimpleCommand } from "./shell_parser.ts";

/** What a judge says of a command. */
export interface CommandAssessment {
  /**
   * `harmless`: only looks at things. `dangerous`: could do damage that cannot be undone, or touches secrets.
   * `ordinary`: everything else, and everything that could not be read for certain.
   */
  readonly verdict: "harmless" | "ordinary" | "dangerous";
  /** Why it is dangerous, one sentence each. */
  readonly reasons: readonly string[];
  /** The programs it runs. */
  readonly programs: readonly string[];
  /** Whether there may be more that could not be read. */
  readonly opaque: boolean;
}

/** Programs that only look, whatever their arguments. */
const READ_ONLY_PROGRAMS: ReadonlySet<string> = new Set(
  ("[ arch basename cat cd cksum cmp column comm cut date df diff dirname du echo expand expr factor false file fmt " +
    "fold grep egrep fgrep groups head hexdump hostname id jq ls md5sum nl nproc od paste printenv printf pwd readlink " +
    "realpath rev rg seq sha1sum sha256sum sha512sum sleep sort stat strings tac tail test tr tree true tsort type " +
    "uname uniq wc which whoami xxd yes :").split(" "),
);

/** Programs that only look with certain first arguments. */
const READ_ONLY_SUBCOMMANDS: ReadonlyMap<string, RegExp> = new Map([
  [
    "git",
    /^(?:status|log|diff|show|blame|grep|ls-files|ls-tree|rev-parse|describe|shortlog|cat-file|merge-base|reflog|--version)$/,
  ],
  ["npm", /^(?:ls|list|outdated|view|--version|-v)$/],
  ["cargo", /^(?:tree|metadata|--version|-V)$/],
  ["go", /^(?:version|env|list|doc)$/],
  ["deno", /^(?:--version|info|-V)$/],
  ["node", /^(?:--version|-v)$/],
  ["python", /^(?:--version|-V)$/],
  ["python3", /^(?:--version|-V)$/],
]);

/** Options by which a program that looks writes or runs something after all. */
const UNSAFE_OPTIONS: ReadonlyMap<string, RegExp> = new Map([
  ["sort", /^(?:-\w*o|--output|--compress-program)/],
  ["tree", /^-\w*o/],
  ["rg", /^--pre(?:$|=)/],
  [
    "git",
    /^(?:--output|-O|--open-files-in-pager|--ext-diff|--textconv|-c|--exec-path|--git-dir|--work-tree)/,
  ],
  ["date", /^(?:-s|--set)/],
  ["hostname", /^[^-]/],
  ["xxd", /^-\w*r/],
  ["file", /^-\w*C/],
  ["yes", /^/],
  ["sleep", /^(?:inf|\d{4,})/],
]);

/** Writing to these changes nothing. */
const HARMLESS_TARGETS: ReadonlySet<string> = new Set([
  "/dev/null",
  "/dev/stdout",
  "/dev/stderr",
  "1",
  "2",
  "-",
]);

/** Judges a command. */
export function assessCommand(
  command: string,
  options: { readonly protect?: readonly string[] } = {},
): CommandAssessment {
  const { commands, opaque } = findExecutedCommands(command);
  const protect = options.protect ?? PROTECTED_FILES;
  const reasons = [
    ...new Set([
      ...commands.flatMap((each) => findCommandDangers(each)),
      ...commands.flatMap((each) => findSecrets(each, protect)),
      ...findScriptDangers(command, commands),
    ]),
  ];
  const isHarmless = !opaque && commands.length > 0 && commands.every(isReadOnlyCommand);
  const verdict = reasons.length > 0 ? "dangerous" : isHarmless ? "harmless" : "ordinary";
  const programs = [...new Set(commands.map(getProgram).filter((name) => name !== ""))];
  return { verdict, reasons, programs, opaque };
}

/** Tells whether a command only looks at things. */
export function isReadOnlyCommand(command: SimpleCommand): boolean {
  const { words, redirects, assignments } = command;
  // A variable can change what a program that looks runs: `GIT_PAGER`, `LD_PRELOAD`.
  if (assignments.length > 0 || !redirects.every(isHarmlessRedirect)) return false;
  const [first, ...args] = words;
  if (!first?.literal || first.text.includes("/")) return false;
  const telltale = UNSAFE_OPTIONS.get(first.text);
  if (telltale && args.some(({ text }) => telltale.test(text))) return false;
  const needed = READ_ONLY_SUBCOMMANDS.get(first.text);
  if (needed) return needed.test(args[0]?.text ?? "") && args[0]?.literal === true;
  return READ_ONLY_PROGRAMS.has(first.text);
}

function isHarmlessRedirect({ operator, target }: SimpleCommand["redirects"][number]): boolean {
  if (operator.startsWith("<") && operator !== "<>") return true;
  return target !== undefined && target.literal && HARMLESS_TARGETS.has(target.text);
}

const DEVICE_PATH = /^\/dev\/(?:sd|hd|vd|nvme|xvd|disk|mmcblk|mem|kmem)/;

/** Folders whose loss is a disaster. */
const BROAD_PATH =
  /^(?:\/|\/\*|~|~\/|~\/\*|\$\{?HOME\}?\/?\*?|\.\.?\/?|\.\/\*|\*|\/(?:bin|boot|dev|etc|home|lib|opt|root|sbin|sys|usr|var)\/?\*?)$/;

function findCommandDangers(command: SimpleCommand): string[] {
  const args = command.words.slice(1).map(({ text }) => text);
  const has = (pattern: RegExp) => args.some((text) => pattern.test(text));
  const reasons: string[] = [];
  const say = (condition: boolean, reason: string) => {
    if (condition) reasons.push(reason);
  };
  switch (getProgram(command)) {
    case "sudo":
    case "doas":
    case "su":
    case "pkexec":
      reasons.push("It runs something with the rights of another user.");
      break;
    case "rm":
      say(has(/^-\w*[rR]|^--recursive$/) && has(BROAD_PATH), "It removes a whole tree of files.");
      say(has(/^--no-preserve-root$/), "It removes everything.");
      break;
    case "chmod":
    case "chown":
      say(
        has(/^-\w*R|^--recursive$/) && has(BROAD_PATH),
        "It changes the rights of a whole tree of files.",
      );
      break;
    case "dd":
      say(
        has(/^of=/) && args.some((text) => DEVICE_PATH.test(text.replace(/^of=/, ""))),
        "It writes to a disk.",
      );
      break;
    case "shutdown":
    case "reboot":
    case "halt":
    case "poweroff":
      reasons.push("It stops the machine.");
      break;
    case "crontab":
    case "at":
    case "systemctl":
    case "launchctl":
      say(
        !has(/^(?:-l|status|list-units|list)$/),
        "It starts something that outlives this session.",
      );
      break;
    case "git":
      say(
        has(/^push$/) && has(/^(?:-f|--force.*|--delete|\+.*)$/),
        "It rewrites a remote repository.",
      );
      say(has(/^reset$/) && has(/^--hard$/), "It throws away changes that are not committed.");
      say(has(/^clean$/) && has(/^-\w*f/), "It removes files that are not committed.");
      break;
  }
  say(
    /^(?:mkfs|mkswap|fdisk|parted|wipefs)/.test(getProgram(command)),
    "It formats or partitions a disk.",
  );
  const targets = command.redirects.flatMap(({ operator, target }) =>
    operator.includes(">") && target ? [target.text] : []
  );
  say(targets.some((target) => DEVICE_PATH.test(target)), "It writes to a disk.");
  say(
    targets.some((target) =>
      /(?:^|\/)\.(?:bash|zsh|profile|ssh|gitconfig|config\/autostart)/.test(target)
    ),
    "It changes what runs when somebody logs in.",
  );
  return reasons;
}

const FETCHERS: ReadonlySet<string> = new Set(["curl", "wget", "fetch"]);
const INTERPRETERS: ReadonlySet<string> = new Set(
  ["sh", "bash", "dash", "zsh", "python", "python3", "perl", "ruby", "node", "php"],
);

function findScriptDangers(source: string, commands: readonly SimpleCommand[]): string[] {
  const programs = commands.map(getProgram);
  const fetches = programs.some((name) => FETCHERS.has(name));
  const runsInput = commands.some((command) =>
    INTERPRETERS.has(getProgram(command)) &&
    command.words.slice(1).every(({ text }) => text === "-" || /^-[sx]+$/.test(text))
  );
  const bomb = /(\S+)\s*\(\)\s*\{[^}]*\1\s*\|\s*\1\s*&/.test(source);
  return [
    ...(fetches &&
        (runsInput || /(?:sh|eval|source|\.)\s+(?:-c\s+)?["']?(?:\$\(|<\(|`)/.test(source))
      ? ["It runs what it fetches from the network."]
      : []),
    ...(bomb ? ["It starts processes without end."] : []),
  ];
}

function findSecrets({ words, redirects }: SimpleCommand, protect: readonly string[]): string[] {
  const rules = createFileRules({ write: ["/"], read: [] }, protect);
  const targets = redirects.flatMap(({ target }) => (target ? [target] : []));
  return [...words, ...targets].flatMap((word) =>
    getCandidatePaths(word).some((text) =>
        rules(`/${text.replace(/^\/+/, "")}`, "read") === "protected"
      )
      ? [`It names ${JSON.stringify(word.text)}, which usually holds secrets.`]
      : []
  );
}

/** What a word may stand for: itself, the value of an option or assignment, and names that a glob could fit. */
function getCandidatePaths({ text, isGlob }: ShellWord): string[] {
  const parts = [text, ...text.split(/[=:@]/).slice(1)].filter((part) => part !== "");
  if (!isGlob) return parts;
  return [...parts, ...TYPICAL_SECRETS.filter((name) => matchesGlob(text, name))];
}

const TYPICAL_SECRETS: readonly string[] = [
  ".env",
  ".env.local",
  ".env.production",
  "id_rsa",
  "server.key",
  "cert.pem",
];

/** A shell's `*` does not fit a name that begins with a dot. */
function matchesGlob(glob: string, name: string): boolean {
  const last = glob.slice(glob.lastIndexOf("/") + 1);
  if (name.startsWith(".") && !last.startsWith(".")) return false;
  return last !== "*" && compileGlob(last)(name);
}
