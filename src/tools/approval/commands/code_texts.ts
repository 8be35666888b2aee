/**
 * The arguments of an interpreter that may be code, or commands that it runs.
 *
 * @module
 */

import { runsAwkCommands } from "./code_arguments.ts";
import { testsOnly } from "./known_programs.ts";
import { createProgramTest, findScriptIndex } from "./interpreters.ts";
import { isPlainPerl } from "./plain_perl.ts";
import { CONSOLES } from "./runs_input.ts";

/** Which arguments of a program may be code, if not all. */
type CodeFilter = (args: readonly string[]) => readonly string[];

const NONE: readonly string[] = [];

/** Runs code in all arguments only if one of them matches. */
function only(pattern: RegExp): CodeFilter {
  return (args) => args.some((text) => pattern.test(text)) ? args : NONE;
}

/** Commands of clients of databases that start programs, or read files with further commands. */
const SQL_COMMAND =
  /[\\!|]|^[^\S\n]*\.|\b(?:copy|edit|exec|executable|host|load_extension|program|python|readfile|shell|source|sys_e\w+|system|xp_cmdshell)\b/im;

/** Options of containers whose value is data. */
const DATA_OPTION = /^(?:-[el]|--(?:annotation|build-arg|env|from-literal|label|name))$/;
const DATA_VALUE = /^--(?:annotation|build-arg|env|from-literal|label|name)=/;

function listContainerTexts(args: readonly string[]): readonly string[] {
  if (/^(?:annotate|label)$/.test(args.find((text) => !text.startsWith("-")) ?? "")) return NONE;
  const test = args.findIndex(testsOnly);
  return args.slice(0, test === -1 ? undefined : test).filter((text, index) =>
    !DATA_VALUE.test(text) && !DATA_OPTION.test(args[index - 1] ?? "")
  );
}

/** Programs that run code or commands in some of their arguments. */
const FILTERS: readonly (readonly [(program: string) => boolean, CodeFilter])[] = [
  [createProgramTest("[gmn]?awk"), (args) => runsAwkCommands(args) ? args : NONE],
  [
    createProgramTest(
      "clickhouse-client cockroach duckdb litecli mariadb mycli mysql pgcli psql sqlite3",
    ),
    (args) => args.some((text) => SQL_COMMAND.test(text)) ? args : NONE,
  ],
  [createProgramTest("cargo"), only(/^(?:make|watch|--config(?:=.*)?)$/)],
  [createProgramTest("deno"), only(/^(?:eval|repl|task|-e|--eval(?:=.*)?)$|^data:/i)],
  [
    createProgramTest("gcloud"),
    only(/^(?:ssh|--command(?:=.*)?|--ssh-flag(?:=.*)?)$|startup-script/),
  ],
  [createProgramTest("swift"), (args) => /^(?:build|run|test)$/.test(args[0] ?? "") ? NONE : args],
  [createProgramTest("sbt"), (args) => args.filter((text) => !/^test\w*(?: [\w.*]+)*$/.test(text))],
  [createProgramTest("(?:docker|podman)(?:-compose)? kubectl nerdctl oc"), listContainerTexts],
];

/** Package managers whose arguments behind the name of a script of the project are those of the script. */
const isManager = createProgramTest("bun npm pnpm yarn");
const isRunner = createProgramTest("bunx npx pnpx");

function listManagerTexts(program: string, args: readonly string[]): readonly string[] {
  if (isRunner(program)) return listPackageTexts(args);
  const [first = "", second = ""] = args;
  if (/^(?:-.*)$/.test(first)) return args;
  if (/^(?:t|test|tst|start|stop|restart)$/.test(first)) return NONE;
  if (/^(?:run|run-script)$/.test(first) && !second.startsWith("-")) return NONE;
  if (/^(?:exec|x|dlx)$/.test(first)) return listPackageTexts(args.slice(1));
  return program === "npm" ? args : listPackageTexts(args);
}

/** Returns the arguments of a package, unless it is certain which one it is, and its arguments are names of tests and files. */
function listPackageTexts(args: readonly string[]): readonly string[] {
  const index = args.findIndex((text) => !/^(?:--|-y|--yes|--no-install|--bun)$/.test(text));
  return testsOnly(args[index] ?? "") ? NONE : args;
}

const isPerl = createProgramTest("perl");

/** Returns the arguments of an interpreter that may be code. */
export function listCodeTexts(program: string, args: readonly string[]): readonly string[] {
  const own = FILTERS.find(([test]) => test(program));
  if (own) return own[1](args);
  if (isManager(program) || isRunner(program)) return listManagerTexts(program, args);
  if (isPerl(program) && isPlainPerl(args)) return NONE;
  const isPattern = (text: string) => /^--test-(?:name|skip)-pattern=/.test(text);
  const script = findScriptIndex(program, args);
  // Of a console of a framework, they may be code.
  if (script === -1 || args.slice(script + 1).some((text) => CONSOLES.test(text))) return args;
  return args.slice(0, script).filter((text) => !isPattern(text));
}
