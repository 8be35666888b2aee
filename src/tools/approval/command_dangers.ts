/**
 * The classes of dangerous commands: those that may do damage which cannot be undone.
 *
 * @module
 */

import type { SimpleCommand } from "../kit/simple_command.ts";
import { type ExecutedCommands, getProgram } from "./commands/executed_commands.ts";

const DEVICE_PATH = /^\/dev\/(?:sd|hd|vd|nvme|xvd|disk|mmcblk|mem|kmem)/;

/** Files that a shell, SSH, the desktop or a scheduler reads at login or later. */
const LOGIN_FILE =
  /(?:^|\/)(?:\.(?:bash|zsh|ksh|csh|tcsh|profile|login|logout|xprofile|xinitrc|xsession|pam_environment|inputrc|ssh(?:\/|$)|gitconfig|config\/(?:autostart|fish|git|systemd)\/)|Library\/LaunchAgents\/)|^\/etc\/(?:profile|cron|ssh|sudoers|rc|init|systemd)/;

/** Files of a repository that decide which programs git runs. */
const GIT_SETTINGS = /(?:^|\/)\.git\/(?:.*\/)?(?:hooks(?:\/|$)|config(?:\.worktree)?$)/;

const GIT_PROGRAM_SETTING =
  /^(?:core\.(?:fsmonitor|hookspath|pager|editor|sshcommand|gitproxy|askpass)|alias\.|filter\.|diff\.|merge\..*driver|credential\.|include|gpg\.|pager\.|sequence\.|uploadpack\.)/i;

/** Whether any argument of a command matches. */
type ArgumentTest = (test: RegExp | ((text: string) => boolean)) => boolean;

interface DangerousProgram {
  readonly program: RegExp;
  /** Limits the danger to certain arguments. Default: any. */
  readonly when?: (hasArgument: ArgumentTest) => boolean;
  readonly reason: string;
}

const REWRITES_REMOTE = "It rewrites a remote repository.";

const DANGEROUS_PROGRAMS: readonly DangerousProgram[] = [
  {
    program: /^(?:sudo|doas|su|pkexec|runuser)$/,
    reason: "It runs a program with the rights of another user.",
  },
  {
    program: /^rm$/,
    when: (has) => has(/^-\w*[rR]|^--r/) && has(isBroadPath),
    reason: "It recursively deletes a root, home, system or working directory.",
  },
  {
    program: /^rm$/,
    when: (has) => has(/^--no-/),
    reason: "It disables the protection of the root directory.",
  },
  {
    program: /^find$/,
    when: (has) => has(/^-delete$/) && has((text) => text !== "." && isBroadPath(text)),
    reason: "It recursively deletes a root, home or system directory.",
  },
  {
    program: /^(?:chmod|chown|chgrp)$/,
    when: (has) => has(/^-\w*R|^--rec/) && has(isBroadPath),
    reason:
      "It recursively changes the permissions or owners in a root, home, system or working directory.",
  },
  {
    program: /^(?:dd|tee|cp|mv|shred)$/,
    when: (has) => has((text) => DEVICE_PATH.test(text.replace(/^of=/, ""))),
    reason: "It writes to a disk.",
  },
  {
    program: /^(?:tee|cp|mv|ln|install|rsync|dd|truncate|chmod)$/,
    when: (has) => has((text) => LOGIN_FILE.test(text.replace(/^of=/, ""))),
    reason: "It changes the programs or settings of a login.",
  },
  {
    program: /^(?:tee|cp|mv|ln|install|rsync|dd|truncate|chmod)$/,
    when: (has) => has((text) => GIT_SETTINGS.test(text.replace(/^of=/, ""))),
    reason: "It changes the programs that git runs.",
  },
  {
    program: /^(?:sed|perl)$/,
    when: (has) => has(/^-\w*i|^--in/) && has(LOGIN_FILE),
    reason: "It changes the programs or settings of a login.",
  },
  { program: /^(?:shutdown|reboot|halt|poweroff)$/, reason: "It stops the machine." },
  {
    program: /^(?:crontab|at|batch|systemctl|launchctl)$/,
    when: (has) => !has(/^(?:-l|status|list-units|list)$/),
    reason: "It changes programs that run after this session.",
  },
  {
    program: /^git$/,
    when: (has) => has(/^push$/) && has(/^(?:-\w*[fd]|--(?:for|de|mi|pru)|\+.|:.)/),
    reason: REWRITES_REMOTE,
  },
  {
    program: /^git$/,
    when: (has) => has(/^reset$/) && has(/^--ha/),
    reason: "It discards changes that are not committed.",
  },
  {
    program: /^git$/,
    when: (has) => has(/^(?:checkout|restore)$/) && has(/^(?:\.|:\/|-\w*f|--fo.*)$/),
    reason: "It discards changes that are not committed.",
  },
  {
    program: /^git$/,
    when: (has) => has(/^clean$/) && has(/^(?:-\w*f|--fo)/),
    reason: "It deletes files that are not committed.",
  },
  {
    program: /^git$/,
    when: (has) => has(/^reflog$/) && has(/^(?:expire|delete)$/),
    reason: "It deletes the history with which lost commits are found.",
  },
  {
    program: /^git$/,
    when: (has) => has(/^config$/) && has(GIT_PROGRAM_SETTING),
    reason: "It changes the programs that git runs.",
  },
  {
    program: /^(?:mkfs|mkswap|fdisk|sfdisk|parted|wipefs)/,
    reason: "It formats or partitions a disk.",
  },
];

/** Returns the reasons why a script is dangerous, one sentence each. */
export function findDangers(script: ExecutedCommands): string[] {
  return [
    ...script.commands.flatMap((command) => [
      ...findProgramDangers(command),
      ...findRedirectDangers(command),
    ]),
    ...findScriptDangers(script),
  ];
}

function findProgramDangers(command: SimpleCommand): string[] {
  const program = getProgram(command);
  const args = command.words.slice(1);
  const hasArgument: ArgumentTest = (test) =>
    args.some(({ text }) => test instanceof RegExp ? test.test(text) : test(text));
  return DANGEROUS_PROGRAMS
    .filter((danger) => danger.program.test(program) && (danger.when?.(hasArgument) ?? true))
    .map(({ reason }) => reason);
}

const SYSTEM_DIRECTORY =
  /^\/(?:bin|boot|dev|etc|home|lib|lib64|media|mnt|opt|proc|root|run|sbin|srv|sys|usr|var|Applications|Library|System|Users|Volumes)?$|^\/(?:home|Users)\/[^/]+$/;

/** Whether a path is a root, home or system directory, the working directory or one above it, or all their files. */
function isBroadPath(text: string): boolean {
  // An empty variable leaves the root directory.
  if (/^\$\{?\w+\}?\/\*?$/.test(text) || text === "*" || text === ".*") return true;
  const path = text.replace(/^\$\{?HOME\}?/, "~").replace(/^\$\{?PWD\}?/, ".").replace(
    /\/\.?\*$/,
    "/",
  );
  const normalized = resolveDots(path);
  return /^(?:\.|~[\w-]*|(?:\.\.\/)*\.\.)$/.test(normalized) || SYSTEM_DIRECTORY.test(normalized);
}

/** Resolves `.` and `..` in a path as far as possible; `..` above a home directory is kept as `..`. */
function resolveDots(path: string): string {
  const parts: string[] = [];
  for (const part of path.split("/")) {
    if (part === "" || part === ".") continue;
    const last = parts.at(-1);
    if (part !== ".." || last === ".." || last === undefined) parts.push(part);
    else if (last.startsWith("~")) parts.splice(-1, 1, "..");
    else parts.pop();
  }
  if (path.startsWith("/")) return `/${parts.filter((part) => part !== "..").join("/")}`;
  return parts.join("/") || (path === "" ? "" : ".");
}

function findRedirectDangers({ redirects }: SimpleCommand): string[] {
  const targets = redirects.flatMap(({ operator, target }) =>
    operator.includes(">") && target ? [target.text] : []
  );
  const hasTarget = (pattern: RegExp) => targets.some((target) => pattern.test(target));
  return [
    ...(hasTarget(DEVICE_PATH) ? ["It writes to a disk."] : []),
    ...(hasTarget(LOGIN_FILE) ? ["It changes the programs or settings of a login."] : []),
    ...(hasTarget(GIT_SETTINGS) ? ["It changes the programs that git runs."] : []),
  ];
}

const FETCHERS: ReadonlySet<string> = new Set(["curl", "wget", "fetch"]);
const INTERPRETERS: ReadonlySet<string> = new Set(
  ["sh", "bash", "dash", "zsh", "fish", "ksh", "python", "python3", "perl", "ruby", "node", "php"],
);

function findScriptDangers({ commands, multiplies }: ExecutedCommands): string[] {
  const downloads = commands.some((command) => FETCHERS.has(getProgram(command)));
  return [
    ...(downloads && commands.some(runsText)
      ? ["It runs code that it downloads from the network."]
      : []),
    ...(multiplies ? ["It starts processes without limit."] : []),
  ];
}

/** Whether a command runs its input, or text that is not known. */
function runsText(command: SimpleCommand): boolean {
  const program = getProgram(command);
  const args = command.words.slice(1);
  if (program === "eval" || program === "source" || program === ".") return true;
  return INTERPRETERS.has(program) &&
    args.every(({ text, literal }) => !literal || text === "-" || /^-[sxce]+$/.test(text));
}
