/**
 * The programs whose arguments or input may be code.
 *
 * @module
 */

/** Matches names with a version, a platform or a variant; a shorter one with a number may be of any program, such as `ex1`. */
const VARIANT =
  /^([a-z]{3,}?)(?:-?\d[\w.+]*(?:-(?!config)[\w-]+)?|-(?:dbg|gtk|lucid|multiarch|nox)|\.(?:athena|basic|gtk\d?|nox|tiny))$/i;

/**
 * Returns the name of a program without its version, platform and variant, as in `python3.11`, `perl5.36-x86_64-linux-gnu`,
 * `gdb-multiarch` and `vim.tiny`.
 */
function withoutVariant(program: string): string {
  return VARIANT.exec(program)?.[1] ?? program;
}

/** Creates a test for programs with any version, platform and variant. */
export function createProgramTest(names: string): (program: string) => boolean {
  const pattern = new RegExp(`^(?:${names.trim().replace(/\s+/g, "|")})$`, "i");
  return (program) => pattern.test(program) || pattern.test(withoutVariant(program));
}

/** Interpreters of languages, which run a file, code in an argument or their input. */
const LANGUAGES =
  `babel-node bb bun clisp clj clojure coffee crystal deno elixir erl g?m4 gforth gjs gnuplot groovy(?:sh)? guile hy
  (?:b|i|pt)?python iex janet julia jython kotlin lua luajit micropython mongo(?:sh)? node nodejs ocaml octave(?:-cli)?
  osascript perl php psysh pypy qjs r racket raku rscript ruby runghc sage sbcl scala swipl (?:tcl|wi)sh ts-node(?:-\\w+)? tsx
  utop vite-node zx`;

/** Editors and debuggers, which run commands in their arguments and input. */
const EDITORS =
  `(?:rust-|c)?gdb (?:rust-)?lldb [gnr]?vim? emacs ex i?pdb jdb kak r2 r?view radare2 rdbg rizin vimdiff`;

/** Clients and consoles, which run commands in their input, also those of a shell. */
const CLIENTS =
  `beeline clickhouse(?:-client)? cockroach cqlsh dlv duckdb ftp hive isql lftp litecli mariadb matlab maxima msfconsole mycli
  mysql(?:sh)? ncftp pgcli psql pyspark redis-cli rr sftp smbclient snowsql socat spark-shell spark-sql sqlcmd sqlite3 sqlplus
  stata telnet usql valkey-cli`;

/** Programs that run code in their input if they get no file and no task. */
const CONSOLES = `amm csi kotlinc mailx? sbt scala-cli scheme sml wolframscript`;

/** Programs that run commands in their arguments or files, but their input only with the argument `-`, or never. */
const TOOLS =
  `(?:docker|podman)(?:-compose)? [gmn]?awk adb ansible(?:-\\w+)? bunx cargo cmake concurrently fly(?:ctl)? gcloud gmake heroku just
  kubectl less make man mix nerdctl ninja nodemon npm npx oc rails scp screen split start-server-and-test swift tmux vagrant
  zip`;

/** Whether the arguments or the input of a program may be code that starts other programs. */
export const isInterpreter = createProgramTest(
  `${LANGUAGES} ${EDITORS} ${CLIENTS} ${CONSOLES} ${TOOLS} b?dc ghci? irb jshell mispipe nix-shell pnpm pnpx pry pssh sops wsl
  yarn`,
);

const isTool = createProgramTest(TOOLS);

/** Whether a program is the interpreter of a language. Shells are none: they are analyzed, or opaque. */
export const isLanguage = createProgramTest(LANGUAGES);

/** Whether a program runs commands of a shell, which are in its arguments or input. */
export const runsCommands = createProgramTest(`${EDITORS} dc ghci irb jshell pry`);

/** Modules of Python that run the code in their arguments or input. */
export const CODE_MODULE =
  /^(?:asyncio|bpython|code|idlelib|ipdb|IPython|pdb|ptpython|pudb|timeit)$/;

/** Those that read further code from their input, also if they get a file. */
const CONSOLE_MODULE = /^(?:asyncio|bpython|code|ipdb|IPython|pdb|ptpython|pudb)$/;

/** Whether a program reads commands from its input, also if it gets a file, which is a database or a program. */
const readsCommands = createProgramTest(
  `${EDITORS} ${CLIENTS} b?dc erl ghci iex irb jshell mongo(?:sh)? pry psysh swipl`,
);

const isPython = createProgramTest("(?:b|i|pt)?python pypy");

/** Languages whose option `-i` does not begin a console. */
const editsInPlace = createProgramTest("perl php ruby");

/** Languages that read their input after the file of the option `-l`, `-L` or `--load`. */
const loadsFiles = createProgramTest("guile janet julia lua luajit racket");
const LOAD_OPTION = /^-\w*[lL]$|^--load$/;

/**
 * Options with code in the same word, in which no letter before has a value, and with the name of a task. Other code is the
 * next word, without which options such as `node -p` and `perl -p` run the input.
 */
const CODE_OPTION = /^-(?!encoding$)[^-CFIMWXdimr]*[eE].|^--(?:eval|exec|execute|print)=|^-[MTX]:/;
const PYTHON_CODE = /^-[^-CFIMWXdimr]*c./;

/** Options that may have a value in the next word. */
const VALUED_OPTION =
  /^-\w*[CIWXdr]$|^--(?:allow-fs-(?:read|write)|build-snapshot-config|check-hash-based-pycs|conditions|core|cpu-prof-\w+|debug-port|define|diagnostic-dir|disable(?:-proto|-warning)?|dns-result-order|dump|dynamic-space-size|enable|encoding|env-file(?:-if-exists)?|experimental-(?:config-file|default-type|package-map|policy|sea-config)|(?:experimental-)?loader|(?:ex|in)ternal-encoding|heap-prof-\w+|heapsnapshot-[\w-]+|icu-data-dir|import|input-type|inspect-p\w+(?:-uid)?|localstorage-file|max-(?:http-header-size|old-space-size-percentage)|network-family-autoselection-[\w-]+|openssl-config|path|php-ini|policy-integrity|procs|profile|redirect-warnings|report-(?!compact|exclude|on-|uncaught)[\w-]+|require|secure-heap(?:-min)?|snapshot-blob|sysimage|(?:experimental-)?test-(?!force|only|randomize|update)[\w-]+|threads|title|tls-(?:cipher-list|keylog)|trace-(?:event-[\w-]+|require-module)|unhandled-rejections|use-largepages|v8-pool-size|watch-(?:kill-signal|path))$/;

/** Those of single languages, whose letters have other meanings elsewhere. */
const OWN_VALUED_OPTIONS: readonly (readonly [(program: string) => boolean, RegExp])[] = [
  [createProgramTest("clj clojure"), /^-(?:S(?:cp|deps)|i)$/],
  [createProgramTest("deno"), /^-L$|^--log-level$/],
  [
    createProgramTest("julia"),
    /^-[HJOgmpt]$|^--(?:banner|bind-to|check-bounds|color|compile|compiled-modules|cpu-target|depwarn|gcthreads|handle-signals|heap-size-hint|history-file|home|inline|machine-file|math-mode|pkgimages|startup-file|warn-overwrite)$/,
  ],
  [createProgramTest("luajit"), /^-j$/],
  [createProgramTest("octave(?:-cli)?"), /^-p$/],
  [createProgramTest("osascript"), /^-[ls]$/],
  [createProgramTest("php"), /^-\w*[cz]$/],
  [createProgramTest("racket"), /^-[AGRS]$/],
  [createProgramTest("ruby"), /^-\w*E$/],
  [createProgramTest("scala"), /^-(?:classpath|cp)$/],
  [createProgramTest("(?:tcl|wi)sh"), /^-encoding$/],
  [createProgramTest("ts-node(?:-\\w+)?"), /^-[OP]$|^--project$/],
];

/** Options with a script, whose value `-` is the input. */
const SCRIPT_OPTION = /^-\w*[Ef]$|^--(?:exec|file|justfile|makefile|rakefile)$/;
const INPUT_SCRIPT = /^(?:-\w*[Ef]|--(?:exec|file|justfile|makefile|rakefile)=)-$/;

/** Whether the arguments of a program have the option with a script, which is the input. */
export function hasInputScript(args: readonly string[]): boolean {
  return args.some((text, index) =>
    INPUT_SCRIPT.test(text) || text === "-" && SCRIPT_OPTION.test(args[index - 1] ?? "")
  );
}

/** Consoles that read their input also after a file, and the arguments without which they do. */
const READERS: readonly (readonly [(program: string) => boolean, RegExp])[] = [
  [createProgramTest("nix-shell"), /^--(?:command|run)$/],
  [(program) => program === "R", /^(?:-[ef]|--file=|CMD$)/],
  [createProgramTest("sbcl"), /^--(?:non-interactive|quit|script)$/],
];

/** Whether an interpreter may run its input. */
export function mayRunInput(program: string, args: readonly string[]): boolean {
  if (isTool(program)) {
    const isFile = /^(?:[gmn]?awk|g?make|just|ninja)$/.test(program) && hasInputScript(args);
    return isFile || args.includes("-") && args.every((text) => CODELESS.test(text));
  }
  if (readsCommands(program) || args.includes("-") || hasInputScript(args)) return true;
  return readsAfterScript(program, args) ||
    !args.some((text, index) => isScript(program, { text, before: args[index - 1] ?? "" }));
}

/** Whether an interpreter reads its input after the script, in a console or a debugger. */
function readsAfterScript(program: string, args: readonly string[]): boolean {
  const options = listOwnOptions(program, args);
  if (isPython(program) && runsConsole(program, args)) return true;
  if (READERS.some(([test, option]) => test(program) && !args.some((text) => option.test(text)))) {
    return true;
  }
  if (/^node/.test(program) && args[0] === "inspect" || args[0] === "repl") return true;
  if (isPerl(program) && options.some((text) => PERL_DEBUGGER.test(text))) return true;
  const isInteractive = options.some((text) =>
    /^-[^-WXcm]*i|^--(?:interactive|persist)$/.test(text)
  );
  return isLanguage(program) && !editsInPlace(program) && isInteractive;
}

const isPerl = createProgramTest("perl");

/** Matches the options with the debugger of Perl, but not with another one, such as `-d:Trace`. */
const PERL_DEBUGGER = /^-[0acnpstTuUwW]*d(?!t?:)/;

/** Languages whose options end at the script. */
const endsOptions = createProgramTest(
  "lua luajit node nodejs perl php pypy (?:b|i|pt)?python ruby",
);

/** Returns the arguments before the file of a script, behind which are those of the script. */
function listOwnOptions(program: string, args: readonly string[]): readonly string[] {
  if (!endsOptions(program)) return args;
  const script = args.findIndex((text, index) => {
    const before = args[index - 1] ?? "";
    return !text.startsWith("-") && !before.startsWith("-") && isScript(program, { text, before });
  });
  return args.slice(0, script === -1 ? undefined : script);
}

/** Languages whose arguments behind the script are those of the script. */
const passesArguments = createProgramTest(
  "elixir groovy guile hy janet julia lua luajit node nodejs perl php pypy (?:b|i|pt)?python racket raku rscript ruby ts-node(?:-\\w+)? tsx",
);

/** Matches options without a value, and those with one in the same word. */
const SIMPLE_OPTION = /^-[bOqsuvwx]+$|^-I.|^--[\w-]+=/;

/** Modules of Python that take no code, whose options are other ones. */
export const TESTERS = /^(?:black|coverage|flake8|mypy|pip|pylint|pytest|ruff|unittest)$/;

/** Finds the script of a language, or the module of tests; -1 if it is not certain where it is. */
export function findScriptIndex(program: string, args: readonly string[]): number {
  if (!passesArguments(program)) return -1;
  const isModule = (text: string, before: string) =>
    isPython(program) && before === "-m" && TESTERS.test(text);
  const index = args.findIndex((text, position) => {
    const before = args[position - 1] ?? "";
    return !text.startsWith("-") && !isOptionValue(program, before) || isModule(text, before);
  });
  const [text = "", before = ""] = [args[index], args[index - 1]];
  const isCertain = isModule(text, before) ||
    !before.startsWith("-") || SIMPLE_OPTION.test(before);
  const isCode = (option: string) => CODE_OPTION.test(option) || /^-\w*[ceEpr]$/.test(option);
  return isCertain && !/\s/.test(text) && !args.slice(0, index).some(isCode) ? index : -1;
}

/** Whether the module that Python runs is a console. */
function runsConsole(program: string, args: readonly string[]): boolean {
  const option = args.findIndex((text, index) =>
    MODULE_OPTION.test(text) ||
    !text.startsWith("-") && !isOptionValue(program, args[index - 1] ?? "")
  );
  const [, attached] = MODULE_OPTION.exec(args[option] ?? "") ?? [];
  return attached !== undefined && CONSOLE_MODULE.test(attached || (args[option + 1] ?? ""));
}

/** Matches the option of Python for a module, which may be in the same word. */
const MODULE_OPTION = /^-[bBdEiIOPqsSuvx]*m(.*)$/s;

/** Matches options without code. */
const CODELESS = /^-(?!\w*[ceEpr])/;

/** Whether an argument certainly is a script, or an option with code, so that the input is none. */
function isScript(
  program: string,
  { text, before }: { readonly text: string; readonly before: string },
): boolean {
  if (text.startsWith("-")) {
    return CODE_OPTION.test(text) || isPython(program) && PYTHON_CODE.test(text);
  }
  const isModule = /^-\w*m$/.test(before) && CODE_MODULE.test(text);
  const isLoaded = loadsFiles(program) && LOAD_OPTION.test(before);
  return text !== "repl" && !isModule && !isLoaded && !isOptionValue(program, before);
}

/** Whether an option may have a value in the next word. */
function isOptionValue(program: string, option: string): boolean {
  return VALUED_OPTION.test(option) ||
    OWN_VALUED_OPTIONS.some(([test, pattern]) => test(program) && pattern.test(option));
}
