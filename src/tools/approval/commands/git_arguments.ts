/**
 * The arguments with which git runs other programs.
 *
 * @module
 */

import type { ShellWord } from "../../kit/simple_command.ts";

/** Arguments with which any sub-command of git, or a sub-command with this name, runs programs. */
const OPAQUE_ARGUMENT =
  /^(?:--(?:conf(?!l)|exe|up(?!d)|rec(?![uo])|op|extc|ext-|exec|tem).*|[Aa][Ll][Ii][Aa][Ss]\..*|foreach|filter-branch|difftool|mergetool)$/;

/** Sub-commands of git that run commands or serve requests. */
const OPAQUE_GIT_COMMANDS: ReadonlySet<string> = new Set(
  "daemon shell hook instaweb for-each-repo credential remote-ext merge-index".split(" "),
);

/** Arguments with which sub-commands of git run commands. */
const OPAQUE_GIT_ARGUMENTS: ReadonlyMap<string, RegExp> = new Map([
  ["bisect", /^(?:run|replay|view|visualize)$/],
  ["rebase", /^-\w*x/],
  ["clone", /^-\w*[cu]/],
  ["grep", /^-\w*O/],
  ["send-email", /^--.*(?:cmd|server)/],
  [
    "config",
    /^(?:core\.(?:fsmonitor|hookspath|pager|editor|sshcommand|gitproxy|askpass|alternaterefs)|include|(?:filter|diff|credential|gpg|pager|sequence|interactive|trailer|tar|hook|uploadpack|man|browser|mergetool|difftool|sendemail|protocol)\.|merge\..*\.driver|remote\..*\.(?:uploadpack|receivepack|vcs)|submodule\..*\.update|init\.templatedir)/i,
  ],
]);

/** Settings of git, behind `-c`, with which it starts no other program. */
const PLAIN_SETTINGS =
  /^(?:user\.(?:name|email)=|(?:color|advice)\.\w+=|init\.defaultBranch=|(?:commit|tag)\.gpgSign=false$|pull\.(?:rebase|ff)=|core\.(?:quotePath|autocrlf|longPaths)=|core\.(?:pager=cat|editor=true)$)/i;

/** Whether git may run a program that its arguments or settings name. */
export function hasOpaqueGitArgument(words: readonly ShellWord[]): boolean {
  const args = words.map(({ text }) => text);
  if (args.some((arg) => OPAQUE_ARGUMENT.test(arg))) return true;
  const isOperand = (arg: string, index: number) =>
    !arg.startsWith("-") && !/^-[Cc]$/.test(args[index - 1] ?? "");
  const index = args.findIndex(isOperand);
  const globals = index === -1 ? words : words.slice(0, index);
  const isUnclear = ({ text, literal }: ShellWord, index: number) =>
    // Another repository has other settings, and the value of another option may be taken for the sub-command.
    /^--(?:git-dir|work-tree|namespace|super|attr)/.test(text) ||
    args[index - 1] === "-c" && !(literal && PLAIN_SETTINGS.test(text));
  if (globals.some(isUnclear)) return true;
  const subcommand = args[index] ?? "";
  if (OPAQUE_GIT_COMMANDS.has(subcommand)) return true;
  const pattern = OPAQUE_GIT_ARGUMENTS.get(subcommand);
  return pattern !== undefined && args.slice(index + 1).some((arg) => pattern.test(arg));
}

/** Sub-commands of git that show names and other data of files and commits, but not the content of files that are not named. */
const WITHOUT_CONTENT: ReadonlySet<string> = new Set(
  ("--version annotate blame branch describe help log ls-files ls-tree merge-base reflog remote rev-list rev-parse " +
    "shortlog show-ref status tag").split(" "),
);

/** Options with which these also show what changed in the files, also abbreviated ones. */
const PATCH_OPTION =
  /^-(?!-)\w*[cLmpuUvW]|^--(?:bi|cc|ch(?!erry)|dd|diff-m|fu(?!ll-)|p(?!arents|retty)|rem(?!ote)|u(?!nt)|v|w)/;

/** Sub-commands for which these letters have such a meaning. */
const WITH_PATCH: ReadonlySet<string> = new Set(["log", "reflog", "status"]);

/** Whether git may show the content of any files of a repository, of which the command names none. */
export function mayShowFiles(args: readonly string[]): boolean {
  const start = findSubcommandIndex(args);
  const subcommand = args[start] ?? "";
  if (!WITHOUT_CONTENT.has(subcommand)) return start !== -1;
  return WITH_PATCH.has(subcommand) && args.slice(start + 1).some((arg) => PATCH_OPTION.test(arg));
}

function findSubcommandIndex(args: readonly string[]): number {
  return args.findIndex((arg, index) =>
    !arg.startsWith("-") && !/^-[Cc]$/.test(args[index - 1] ?? "")
  );
}

/**
 * Lists what `git diff` may compare as files, without a repository: its operands, if there are at most two. Others are
 * commits, or paths in the repository.
 */
export function listComparedPaths(args: readonly string[]): readonly string[] {
  const start = findSubcommandIndex(args);
  if (args[start] !== "diff") return [];
  const rest = args.slice(start + 1);
  const operands = rest.filter((arg) => !arg.startsWith("-"));
  // Behind a commit, `--` precedes paths in the repository.
  const isSeparated = rest.indexOf("--") > rest.indexOf(operands[0] ?? "");
  return operands.length > 2 || isSeparated ? [] : operands;
}
