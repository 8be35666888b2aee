/**
 * Environment of a command: the variables that programs need, and none that may hold a secret.
 *
 * @module
 */

import { system } from "../../platform/system.ts";

/** Variables copied from the environment of this program. All others may hold keys or tokens and are not copied. */
const INHERITED_VARIABLES: readonly string[] = [
  // User and locale.
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
  // Locations of toolchains.
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
  // Required by programs on Windows.
  "SystemRoot",
  "ComSpec",
  "PATHEXT",
  "APPDATA",
  "LOCALAPPDATA",
  "USERPROFILE",
];

/** Settings for programs without a terminal: no pager, no colours, no prompts. */
const NON_INTERACTIVE_VARIABLES: Readonly<Record<string, string>> = {
  TERM: "dumb",
  NO_COLOR: "1",
  PAGER: "cat",
  GIT_PAGER: "cat",
  // Commands such as `git status` then do not write to the repository.
  GIT_OPTIONAL_LOCKS: "0",
  GIT_TERMINAL_PROMPT: "0",
  GIT_EDITOR: "true",
  DEBIAN_FRONTEND: "noninteractive",
};

/**
 * Settings of git: a directory with the files of a repository, but without the name `.git`, is none. Any file tool, and a
 * clone, can create such a directory, whose `config` names programs that `git status` in it runs.
 */
const GIT_SETTINGS: Readonly<Record<string, string>> = {
  GIT_CONFIG_COUNT: "1",
  GIT_CONFIG_KEY_0: "safe.bareRepository",
  GIT_CONFIG_VALUE_0: "explicit",
};

/** Variables with which Deno downloads modules and packages. They are for our own helpers, not for commands of an agent. */
export const DOWNLOAD_VARIABLES: readonly string[] = [
  ...["XDG_CACHE_HOME", "JSR_URL", "NPM_CONFIG_REGISTRY", "DENO_CERT", "DENO_TLS_CA_STORE"],
  ...["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"],
];

/** Options for {@linkcode createCommandEnvironment}. */
export interface EnvironmentOptions {
  /** Names of additional variables to copy. */
  readonly passEnvironment?: readonly string[];
  /** Variables to set; they take precedence. */
  readonly set?: Readonly<Record<string, string>>;
  /** Reads a variable by name. Default: {@linkcode readEnvironmentVariable}. */
  readonly read?: (name: string) => string | undefined;
}

/** Creates the complete environment of a command. */
export function createCommandEnvironment(options: EnvironmentOptions = {}): Record<string, string> {
  const { passEnvironment = [], set = {}, read = readEnvironmentVariable } = options;
  const environment: Record<string, string> = {
    PATH: "/usr/local/bin:/usr/bin:/bin",
    ...GIT_SETTINGS,
  };
  for (const name of [...INHERITED_VARIABLES, ...passEnvironment]) {
    const value = read(name);
    if (value !== undefined) environment[name] = value;
  }
  return { ...environment, ...NON_INTERACTIVE_VARIABLES, ...set };
}

/** Reads a variable of this program; `undefined` when it is not set or may not be read. */
export function readEnvironmentVariable(name: string): string | undefined {
  try {
    return system.env.get(name);
  } catch {
    return undefined;
  }
}
