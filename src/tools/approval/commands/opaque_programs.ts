/**
 * The programs that run commands which are not parsed.
 *
 * @module
 */

import type { ShellWord } from "../../kit/simple_command.ts";
import { MAKE_FUNCTION, startsPlainSsh } from "../shell/evaluated_variables.ts";
import { hasOpaqueGitArgument } from "./git_arguments.ts";

/** Programs that run commands which are in a file, their input, or text that is not parsed. */
export const OPAQUE_PROGRAMS: ReadonlySet<string> = new Set(
  (". source alias enable bind complete compgen fc hash history let shopt zsh fish csh tcsh pwsh powershell powershell.exe pwsh.exe cmd.exe mksh lksh oksh loksh " +
    "yash posh osh ysh hush sash elvish nu xonsh rc es bash-static sh.distrib parallel watch at batch crontab entr expect flock hyperfine " +
    "runuser script su sg newgrp ed red capsh start-stop-daemon pee").split(" "),
);

/** Arguments with which `make` runs commands, or a file that is its input. */
const MAKE_COMMAND = new RegExp(
  [
    "^-\\w*E|^--ev",
    "^\\.?SHELL(?:FLAGS)?\\s*[:?+]*=",
    "^[^=]*!\\s*=",
    "^(?:-\\w*f|--(?:f|mak)[a-z]*=)?-$",
    MAKE_FUNCTION.source,
  ].join("|"),
);

/** Arguments with which a program runs commands that are not parsed. */
const OPAQUE_ARGUMENTS: ReadonlyMap<string, RegExp> = new Map([
  ["env", /^(?:-\w*S|--s)/],
  ["declare", /^[-+]\w*[in]|\[/],
  ["typeset", /^[-+]\w*[in]|\[/],
  ["local", /^[-+]\w*[in]|\[/],
  ["readonly", /\[/],
  ["export", /^-\w*f|\[/],
  ["unset", /\[/],
  ["read", /\[/],
  ["test", /^-[vR]$/],
  ["[", /^-[vR]$/],
  ["printf", /^-v/],
  ["wait", /^-\w*p/],
  // Then all arguments of the form name=value are variables.
  ["set", /^-\w*k|^keyword$/],
  ["mapfile", /^-\w*C/],
  ["readarray", /^-\w*C/],
  ["jobs", /^-\w*x/],
  ["tar", /^(?:-\w*[IF]|--(?:to-c|check.*-a|use|info|new-|rsh|rmt))/],
  ["sort", /^--co/],
  ["split", /^--f/],
  ["man", /^(?:-\w*[PHC]|--(?:pag|html|conf|pre))/],
  ["less", /^\+/],
  ["zip", /^(?:-\w*TT|--un)/],
  ["ssh", /^-\w*F|(?:proxy|local|hosts)command/i],
  ["scp", /^-\w*[FS]|(?:proxy|local|hosts)command/i],
  ["sftp", /^-\w*[FSD]|(?:proxy|local|hosts)command/i],
  ["wget", /^(?:-\w*e|--(?:use-a|exec))/],
  ["make", MAKE_COMMAND],
  ["gmake", MAKE_COMMAND],
  ["bmake", MAKE_COMMAND],
  // It writes its output to a command.
  ["strace", /^(?:-\w*o|--output=)?[|!]/],
  ["npm", /^--(?:script-)?shell/],
  ["pnpm", /^--(?:script-)?shell/],
  ["mvn", /^-Dexec\.executable/],
  ["gcc", /^(?:-wrapper|-fplugin|-specs|-B|@)/],
  ["install", /^--strip-p/],
  ["cpio", /^--rsh/],
  ["nc", /^-\w*[ec]/],
  ["netcat", /^-\w*[ec]/],
  ["ncat", /^(?:-\w*[ec]|--(?:e|sh|lua))/],
  ["tcpdump", /^-\w*z/],
  ["rg", /^--(?:pre|hostname-bin)(?:$|=)/],
  ["fd", /^(?:-\w*[xX]|--exec)/],
  ["fdfind", /^(?:-\w*[xX]|--exec)/],
  ["go", /^--?(?:toolexec|exec|vettool)/],
  ["cargo", /^--config/],
  ["rsync", /^(?:-\w*e|--rs)/],
]);

/** Whether a program runs commands that are not parsed. */
export function isOpaque(program: string, args: readonly ShellWord[]): boolean {
  const isKnown = activatesEnvironment(program, args) ||
    program === "shopt" && changesPatterns(args) ||
    program === "hash" && args.every(({ text }) => text === "-r") ||
    program === "history" && args.every(({ text }) => /^\d+$/.test(text));
  return OPAQUE_PROGRAMS.has(program) && !isKnown || hasOpaqueArgument(program, args);
}

/** Whether a command is that with which a virtual environment of Python is entered, such as `. .venv/bin/activate`. */
function activatesEnvironment(program: string, args: readonly ShellWord[]): boolean {
  const [file] = args;
  return /^(?:source|\.)$/.test(program) && args.length === 1 && file?.literal === true &&
    /(?:^|\/)\.?v?(?:irtual)?env\/bin\/activate$/.test(file.text);
}

/** Whether `shopt` only changes which files patterns match. */
function changesPatterns(args: readonly ShellWord[]): boolean {
  return args.every(({ text, literal }) =>
    literal && /^(?:-[squ]+|(?:dot|fail|null|nocase)glob|globstar)$/.test(text)
  );
}

function hasOpaqueArgument(program: string, args: readonly ShellWord[]): boolean {
  const pattern = OPAQUE_ARGUMENTS.get(program);
  const isPlain = (index: number) => {
    const [text, value] = [args[index]?.text ?? "", args[index + 1]];
    return program === "rsync" && /^-[a-zA-Z]*e$/.test(text) && value?.literal === true &&
      startsPlainSsh(value.text);
  };
  if (pattern && args.some(({ text }, index) => pattern.test(text) && !isPlain(index))) return true;
  // The first word may be the options, without a dash.
  if (program === "tar") return /^\w*[IF]/.test(args[0]?.text ?? "");
  return program === "git" && hasOpaqueGitArgument(args);
}
