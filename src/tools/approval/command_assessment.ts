/**
 * Assessment of shell commands as harmless, ordinary or dangerous, as advice for an approval. It enforces nothing:
 * the sandbox does.
 *
 * @module
 */

import { createFileRules } from "../files/file_rules.ts";
import { PROTECTED_FILES } from "../../platform/secret_places.ts";
import { compileGlob } from "../../core/ignore/glob.ts";
import { findExecutedCommands, getProgram } from "./executed_commands.ts";
import type { ShellWord, SimpleCommand } from "./shell_parser.ts";

/** The assessment of a shell command. */
export interface CommandAssessment {
  /**
   * `harmless`: read-only. `dangerous`: may do damage that cannot be undone, or uses secrets. `ordinary`: all others,
   * including ambiguous commands.
   */
  readonly verdict: "harmless" | "ordinary" | "dangerous";
  /** Reasons why it is dangerous, one sentence each; empty for other verdicts. */
  readonly reasons: readonly string[];
  /** Names of the programs it runs, each once. */
  readonly programs: readonly string[];
  /** Whether it may run other programs that cannot be determined. */
  readonly opaque: boolean;
}

/** Programs that are read-only with any arguments but `UNSAFE_OPTIONS`. */
const READ_ONLY_PROGRAMS: ReadonlySet<string> = new Set(
  ("[ arch basename cat cd cksum cmp column comm cut date df diff dirname du echo expand expr factor false file fmt " +
    "fold grep egrep fgrep groups head hexdump hostname id jq ls md5sum nl nproc od paste printenv printf pwd readlink " +
    "realpath rev rg seq sha1sum sha256sum sha512sum sleep sort stat strings tac tail test tr tree true tsort type " +
    "uname uniq wc which whoami xxd yes :").split(" "),
);

/** Programs that are read-only with certain first arguments. */
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

/** Arguments with which a read-only program writes files, runs other programs, changes settings or does not end. */
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

/** Targets of harmless redirections. */
const HARMLESS_TARGETS: ReadonlySet<string> = new Set([
  "/dev/null",
  "/dev/stdout",
  "/dev/stderr",
  "1",
  "2",
  "-",
]);

/**
 * Assesses a shell command.
 *
 * @param options `protect` lists globs of files with secrets. Default: {@linkcode PROTECTED_FILES}.
 */
export function assessCommand(
  command: string,
  options: { readonly protect?: readonly string[] } = {},
): CommandAssessment {
  const { commands, opaque } = findExecutedCommands(command);
  const protect = options.protect ?? PROTECTED_FILES;
  const reasons = [
    ...new Set([
      ...commands.flatMap((part) => [...findProgramDangers(part), ...findRedirectDangers(part)]),
      ...commands.flatMap((part) => findSecrets(part, protect)),
      ...findScriptDangers(command, commands),
    ]),
  ];
  const isHarmless = !opaque && commands.length > 0 && commands.every(isReadOnlyCommand);
  const verdict = reasons.length > 0 ? "dangerous" : isHarmless ? "harmless" : "ordinary";
  const programs = [...new Set(commands.map(getProgram).filter((name) => name !== ""))];
  return { verdict, reasons, programs, opaque };
}

/** Whether a command is read-only. */
export function isReadOnlyCommand(command: SimpleCommand): boolean {
  const { words, redirects, assignments } = command;
  // A variable such as `GIT_PAGER` or `LD_PRELOAD` can make a read-only program run another one.
  if (assignments.length > 0 || !redirects.every(isHarmlessRedirect)) return false;
  const [first, ...args] = words;
  if (!first?.literal || first.text.includes("/")) return false;
  const unsafe = UNSAFE_OPTIONS.get(first.text);
  if (unsafe && args.some(({ text }) => unsafe.test(text))) return false;
  const subcommands = READ_ONLY_SUBCOMMANDS.get(first.text);
  if (subcommands) return subcommands.test(args[0]?.text ?? "") && args[0]?.literal === true;
  return READ_ONLY_PROGRAMS.has(first.text);
}

function isHarmlessRedirect({ operator, target }: SimpleCommand["redirects"][number]): boolean {
  if (operator.startsWith("<") && operator !== "<>") return true;
  return target !== undefined && target.literal && HARMLESS_TARGETS.has(target.text);
}

const DEVICE_PATH = /^\/dev\/(?:sd|hd|vd|nvme|xvd|disk|mmcblk|mem|kmem)/;

/** Matches root, home, system and working directories. */
const BROAD_PATH =
  /^(?:\/|\/\*|~|~\/|~\/\*|\$\{?HOME\}?\/?\*?|\.\.?\/?|\.\/\*|\*|\/(?:bin|boot|dev|etc|home|lib|opt|root|sbin|sys|usr|var)\/?\*?)$/;

/** Whether any argument of a command matches. */
type ArgumentTest = (pattern: RegExp) => boolean;

interface DangerousProgram {
  readonly program: RegExp;
  /** Limits the danger to certain arguments. Default: any. */
  readonly when?: (hasArgument: ArgumentTest) => boolean;
  readonly reason: string;
}

const DANGEROUS_PROGRAMS: readonly DangerousProgram[] = [
  {
    program: /^(?:sudo|doas|su|pkexec)$/,
    reason: "It runs a program with the rights of another user.",
  },
  {
    program: /^rm$/,
    when: (has) => has(/^-\w*[rR]|^--recursive$/) && has(BROAD_PATH),
    reason: "It recursively deletes a root, home, system or working directory.",
  },
  {
    program: /^rm$/,
    when: (has) => has(/^--no-preserve-root$/),
    reason: "It disables the protection of the root directory.",
  },
  {
    program: /^(?:chmod|chown)$/,
    when: (has) => has(/^-\w*R|^--recursive$/) && has(BROAD_PATH),
    reason:
      "It recursively changes the permissions or owners in a root, home, system or working directory.",
  },
  {
    program: /^dd$/,
    when: (has) => has(new RegExp(`^of=${DEVICE_PATH.source.slice(1)}`)),
    reason: "It writes to a disk.",
  },
  { program: /^(?:shutdown|reboot|halt|poweroff)$/, reason: "It stops the machine." },
  {
    program: /^(?:crontab|at|systemctl|launchctl)$/,
    when: (has) => !has(/^(?:-l|status|list-units|list)$/),
    reason: "It changes programs that run after this session.",
  },
  {
    program: /^git$/,
    when: (has) => has(/^push$/) && has(/^(?:-f|--force.*|--delete|\+.*)$/),
    reason: "It rewrites a remote repository.",
  },
  {
    program: /^git$/,
    when: (has) => has(/^reset$/) && has(/^--hard$/),
    reason: "It discards changes that are not committed.",
  },
  {
    program: /^git$/,
    when: (has) => has(/^clean$/) && has(/^-\w*f/),
    reason: "It deletes files that are not committed.",
  },
  {
    program: /^(?:mkfs|mkswap|fdisk|parted|wipefs)/,
    reason: "It formats or partitions a disk.",
  },
];

function findProgramDangers(command: SimpleCommand): string[] {
  const program = getProgram(command);
  const args = command.words.slice(1);
  const hasArgument: ArgumentTest = (pattern) => args.some(({ text }) => pattern.test(text));
  return DANGEROUS_PROGRAMS
    .filter((danger) => danger.program.test(program) && (danger.when?.(hasArgument) ?? true))
    .map(({ reason }) => reason);
}

/** Files that a shell, SSH or the desktop reads at login. */
const LOGIN_FILE = /(?:^|\/)\.(?:bash|zsh|profile|ssh|gitconfig|config\/autostart)/;

function findRedirectDangers({ redirects }: SimpleCommand): string[] {
  const targets = redirects.flatMap(({ operator, target }) =>
    operator.includes(">") && target ? [target.text] : []
  );
  return [
    ...(targets.some((target) => DEVICE_PATH.test(target)) ? ["It writes to a disk."] : []),
    ...(targets.some((target) => LOGIN_FILE.test(target))
      ? ["It changes the programs or settings of a login."]
      : []),
  ];
}

const FETCHERS: ReadonlySet<string> = new Set(["curl", "wget", "fetch"]);
const INTERPRETERS: ReadonlySet<string> = new Set(
  ["sh", "bash", "dash", "zsh", "python", "python3", "perl", "ruby", "node", "php"],
);

function findScriptDangers(source: string, commands: readonly SimpleCommand[]): string[] {
  const programs = commands.map(getProgram);
  const downloads = programs.some((name) => FETCHERS.has(name));
  const runsInput = commands.some((command) =>
    INTERPRETERS.has(getProgram(command)) &&
    command.words.slice(1).every(({ text }) => text === "-" || /^-[sx]+$/.test(text))
  );
  const isForkBomb = /(\S+)\s*\(\)\s*\{[^}]*\1\s*\|\s*\1\s*&/.test(source);
  return [
    ...(downloads &&
        (runsInput || /(?:sh|eval|source|\.)\s+(?:-c\s+)?["']?(?:\$\(|<\(|`)/.test(source))
      ? ["It runs code that it downloads from the network."]
      : []),
    ...(isForkBomb ? ["It starts processes without limit."] : []),
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

/** Returns the paths that a word may refer to: itself, the value of an option or assignment, and matches of a glob. */
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

/** Whether a glob of the shell matches a name; its `*` does not match a leading dot. */
function matchesGlob(glob: string, name: string): boolean {
  const last = glob.slice(glob.lastIndexOf("/") + 1);
  if (name.startsWith(".") && !last.startsWith(".")) return false;
  return last !== "*" && compileGlob(last)(name);
}
