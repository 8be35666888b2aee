/**
 * Whether a command may run what it gets in its input, so that a rule for its text would be for any code.
 *
 * @module
 */

import { getFileName } from "./file_name.ts";
import { INPUT_FILE } from "./input_code.ts";
import { createProgramTest, isInterpreter, mayRunInput } from "./interpreters.ts";

const isShell = createProgramTest("(?:a|ba|c|da|k|mk|rba|tc|z)?sh fish nu powershell pwsh xonsh");

/** Programs that run commands in their input, also those of a shell. */
const isClient = createProgramTest(
  "clickhouse(?:-client)? cqlsh duckdb ftp isql matlab maxima redis-cli sqlcmd stata telnet",
);

/** Sub-commands that read code in a loop, such as `rails console`. */
const CONSOLES = /^(?:console|dbshell|fsi|repl|shell|tinker)$/;

const isContainerTool = createProgramTest("(?:docker|podman)(?:-compose)? kubectl nerdctl oc");

/** Whether the program of a command, or one that it starts, as in `uv run python`, may run its input. */
export function runsInput(words: readonly string[]): boolean {
  const [program = "", ...args] = words;
  // The program of a container gets the input then.
  const isAttached = isContainerTool(getFileName(program)) &&
    args.some((arg) => /^(?:-[a-z]*i[a-z]*|--interactive(?:=.*)?|--stdin(?:=.*)?)$/.test(arg));
  const readsInput = args.some((arg) =>
    arg === "-" || arg.endsWith("=-") || CONSOLES.test(arg) || INPUT_FILE.test(arg)
  );
  return isAttached || readsInput ||
    words.some((word, index) => startsCode(getFileName(word), words.slice(index + 1)));
}

function startsCode(program: string, args: readonly string[]): boolean {
  if (isClient(program)) return true;
  return (isInterpreter(program) || isShell(program)) && mayRunInput(program, args);
}
