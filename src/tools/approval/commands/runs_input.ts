/**
 * Whether a command may run what it gets in its input, so that a rule for its text would be for any code.
 *
 * @module
 */

import { getFileName } from "./file_name.ts";
import { createProgramTest, isInterpreter, mayRunInput } from "./interpreters.ts";

/** Matches paths with which a program can read its input or another open file, and the directories of these. */
export const INPUT_FILE =
  /(?:^|=)\/[./]*(?:dev|proc)\/*$|(?:^|[=/])(?:dev\/[./]*(?:stdin$|fd(?:\/|$))|proc\/[./]*(?:self|thread-self|\d+)\/)/;

const isShell = createProgramTest("(?:a|ba|c|da|k|mk|rba|tc|z)?sh fish nu powershell pwsh xonsh");

/** Sub-commands that read code in a loop, such as `rails console`. */
export const CONSOLES =
  /^(?:console\w*|dbconsole|dbshell|fsi|pg:psql|ps:exec|psysh|repl|shell|shell_plus|tinker)$/;

/** Sub-commands that begin a shell on another machine. */
const SHELLS = /^(?:enter|execute-command|rsh|ssh|start-session)$/;

/** Other ones, with the programs that have them. */
const OWN_CONSOLES: readonly (readonly [string, RegExp])[] = [
  ["cargo", /^script$/],
  ["crystal", /^(?:eval|i)$/],
  ["distrobox", /^enter$/],
  ["fly", /^ssh$/],
  ["flyctl", /^ssh$/],
  ["gcloud", /^ssh$/],
  ["nix", /^develop$/],
  ["rails", /^(?:c|db|-)$/],
  ["tmux", /^-\w*C|^-$/],
  ["toolbox", /^enter$/],
  ["vagrant", /^ssh$/],
];

/** Programs that begin no console if they get a command. */
const takesCommand = createProgramTest("fly flyctl gcloud nix vagrant");

const hasConsoles = createProgramTest(
  `adb ansible-console django-admin dotnet fly flyctl gradle heroku lein manage\\.py mill nix node php pipenv poetry python rails sbt
  scala-cli swift`,
);

/** Options of shells whose value is not a script. */
const VALUED_SHELL_OPTION = /^[-+]\w*[oO]$|^--(?:init-file|rcfile)$/;

const isContainerTool = createProgramTest("(?:docker|podman)(?:-compose)? kubectl nerdctl oc");

/** Whether the program of a command, or one that it starts, as in `uv run python`, may run its input. */
export function runsInput(words: readonly string[]): boolean {
  const [program = "", ...args] = words;
  // The program of a container gets the input then.
  const isAttached = isContainerTool(getFileName(program)) &&
    args.some((arg) =>
      /^(?:attach|-[a-z]*i[a-z]*|--interactive(?:=.*)?|--stdin(?:=.*)?)$/.test(arg)
    );
  const startsShell = !takesCommand(getFileName(program)) && args.some((arg) => SHELLS.test(arg));
  const readsInput = args.some((arg) =>
    arg === "-" || arg.endsWith("=-") || CONSOLES.test(arg) || INPUT_FILE.test(arg)
  );
  return isAttached || readsInput || startsShell ||
    words.some((word, index) => startsCode(getFileName(word), words.slice(index + 1)));
}

/** Whether a program, without its path, may run its input with some arguments. */
export function mayStartCode(program: string): boolean {
  return isShell(program) || isInterpreter(program) || hasConsoles(program) ||
    OWN_CONSOLES.some(([name]) => name === program);
}

/** Whether a program, without its path, may run its input. */
export function startsCode(program: string, args: readonly string[]): boolean {
  const isPlain = args.length === 1 && /^(?:--?version|--help)$/.test(args[0] ?? "") ||
    takesCommand(program) && args.some((arg) => /^(?:-[cC]|--command(?:=.*)?)$/.test(arg));
  if (isPlain) return false;
  if (program === "swift" && args.every((arg) => arg.startsWith("-"))) return true;
  if (program === "ansible-console") return true;
  if (hasConsoles(program) && args.slice(0, 3).some((arg) => CONSOLES.test(arg))) return true;
  if (program === "uv" && args[0] === "run" && runsScriptOfInput(args.slice(1))) return true;
  const own = OWN_CONSOLES.find(([name]) => name === program);
  if (own && args.some((arg) => own[1].test(arg))) return true;
  return isShell(program)
    ? shellRunsInput(args)
    : isInterpreter(program) && mayRunInput(program, args);
}

/** Whether the script of `uv run` is the input: no word before it is certainly a program. */
function runsScriptOfInput(args: readonly string[]): boolean {
  const end = args.indexOf("-");
  return end !== -1 &&
    args.slice(0, end).every((text, index) =>
      text.startsWith("-") || args[index - 1]?.startsWith("-") === true
    );
}

/** Whether a shell has no script and no command in its arguments, or reads its input nevertheless. */
function shellRunsInput(args: readonly string[]): boolean {
  const script = args.findIndex((arg, index) =>
    !/^[-+]/.test(arg) && !VALUED_SHELL_OPTION.test(args[index - 1] ?? "")
  );
  return script === -1 || INPUT_FILE.test(args[script] ?? "") ||
    args.slice(0, script).some((arg) => /^-\w*[is]/.test(arg));
}
