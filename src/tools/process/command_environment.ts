/**
 * The environment of a command: what programs need, and nothing that could be a secret.
 *
 * @module
 */

/** What is handed on from the agent's own environment. Everything else stays there: keys, tokens, passwords. */
export const INHERITED_VARIABLES: readonly string[] = [
  // Who and where.
  "PATH",
  "HOME",
  "USER",
  "LOGNAME",
  "SHELL",
  "TZ",
  "LANG",
  "LANGUAGE",
  "LC_ALL",
  "LC_CTYPE",
  "LC_COLLATE",
  "LC_MESSAGES",
  "LC_NUMERIC",
  "LC_TIME",
  // Where toolchains are.
  "JAVA_HOME",
  "ANDROID_HOME",
  "GOPATH",
  "GOROOT",
  "GOMODCACHE",
  "GOFLAGS",
  "GOPROXY",
  "CARGO_HOME",
  "RUSTUP_HOME",
  "RUSTUP_TOOLCHAIN",
  "NVM_DIR",
  "PNPM_HOME",
  "BUN_INSTALL",
  "VOLTA_HOME",
  "DENO_DIR",
  "DENO_INSTALL",
  "NODE_PATH",
  "NODE_EXTRA_CA_CERTS",
  "PYENV_ROOT",
  "VIRTUAL_ENV",
  "CONDA_PREFIX",
  "GEM_HOME",
  "RBENV_ROOT",
  "DOTNET_ROOT",
  "NIX_PATH",
  "SSL_CERT_FILE",
  "SSL_CERT_DIR",
  // What programs on Windows do not start without.
  "SystemRoot",
  "ComSpec",
  "PATHEXT",
  "APPDATA",
  "LOCALAPPDATA",
  "USERPROFILE",
];

/** For a program that runs without a person: no pager, no colour, no question. */
const NON_INTERACTIVE_VARIABLES: Readonly<Record<string, string>> = {
  TERM: "dumb",
  NO_COLOR: "1",
  PAGER: "cat",
  GIT_PAGER: "cat",
  GIT_TERMINAL_PROMPT: "0",
  GIT_EDITOR: "true",
  DEBIAN_FRONTEND: "noninteractive",
};

/** What {@linkcode createCommandEnvironment} is told. */
export interface EnvironmentOptions {
  /** More names to hand on. */
  readonly passEnvironment?: readonly string[];
  /** Values that win over everything else. */
  readonly set?: Readonly<Record<string, string>>;
  /** Reads one variable by name. Default: the program's own environment, where it may be read. */
  readonly read?: (name: string) => string | undefined;
}

/** Makes the whole environment of a command. */
export function createCommandEnvironment(options: EnvironmentOptions = {}): Record<string, string> {
  const { passEnvironment = [], set = {}, read = readEnvironmentVariable } = options;
  const environment: Record<string, string> = { PATH: "/usr/local/bin:/usr/bin:/bin" };
  for (const name of [...INHERITED_VARIABLES, ...passEnvironment]) {
    const value = read(name);
    if (value !== undefined) environment[name] = value;
  }
  return { ...environment, ...NON_INTERACTIVE_VARIABLES, ...set };
}

/** Reads one variable of this program's environment; `undefined` also where it may not be read. */
export function readEnvironmentVariable(name: string): string | undefined {
  try {
    return Deno.env.get(name);
  } catch {
    return undefined;
  }
}
