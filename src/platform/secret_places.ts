/**
 * The places of secrets, in one list: the sandbox hides them from commands, the file tools and searches refuse them, and
 * the assessment of commands reports them.
 *
 * @module
 */

import { compileGlob, compileGlobs, type PathMatcher } from "../core/ignore/glob.ts";

/** Names of files with secrets, in any directory, as globs; `!` excludes files. */
const SECRET_NAMES: readonly string[] = [
  ".env",
  ".env.*",
  "*.env",
  ".envrc",
  "!.env.example",
  "!.env.sample",
  "!.env.template",
  "!example.env",
  "!sample.env",
  "!template.env",
  // Private keys and key stores
  "*.pem",
  "*.key",
  "*.p12",
  "*.pfx",
  "*.jks",
  "*.keystore",
  "*.kdbx",
  "*.ppk",
  "id_rsa",
  "id_dsa",
  "id_ecdsa",
  "id_ecdsa_sk",
  "id_ed25519",
  "id_ed25519_sk",
  // Credentials of programs, also in projects
  ".netrc",
  "_netrc",
  ".pgpass",
  ".my.cnf",
  ".mylogin.cnf",
  ".git-credentials",
  ".npmrc",
  ".pypirc",
  ".htpasswd",
  ".vault-token",
  ".dockercfg",
  ".s3cfg",
  ".boto",
  "credentials.json",
  "client_secret*.json",
  "service-account*.json",
  "application_default_credentials.json",
  "*.tfstate",
  "*.tfstate.backup",
];

/** Files and directories with secrets in a home directory; relative, with `/`. */
const SECRET_HOME_PATHS: readonly string[] = [
  // Keys
  ".ssh",
  ".gnupg",
  ".password-store",
  ".local/share/keyrings",
  ".local/share/kwalletd",
  ".pki",
  ".age",
  ".config/age",
  ".config/sops",
  ".config/op",
  ".config/1Password",
  ".config/Bitwarden",
  "Library/Keychains",
  // Clouds and clusters
  ".aws",
  ".azure",
  ".oci",
  ".aliyun",
  ".kube",
  ".fly",
  ".config/gcloud",
  ".config/doctl",
  ".config/hcloud",
  ".config/rclone",
  ".config/containers",
  ".docker/config.json",
  ".terraform.d",
  ".terraformrc",
  ".vault-token",
  // Registries and hosts of code
  ".npmrc",
  ".yarnrc.yml",
  ".pypirc",
  ".gem/credentials",
  ".bundle/config",
  ".cargo/credentials",
  ".cargo/credentials.toml",
  ".m2/settings.xml",
  ".m2/settings-security.xml",
  ".gradle/gradle.properties",
  ".nuget/NuGet/NuGet.Config",
  ".composer/auth.json",
  ".config/composer/auth.json",
  ".config/gh",
  ".config/hub",
  ".config/glab-cli",
  ".config/github-copilot",
  ".config/git/credentials",
  ".git-credentials",
  ".huggingface/token",
  ".cache/huggingface/token",
  // Agents
  ".claude/.credentials.json",
  ".claude.json",
  ".codex/auth.json",
  ".gemini/oauth_creds.json",
  ".local/share/opencode/auth.json",
  ".config/swink",
  ".local/state/swink",
  "Library/Application Support/swink",
  // Databases and networks
  ".netrc",
  ".pgpass",
  ".my.cnf",
  ".mylogin.cnf",
  ".config/filezilla",
  ".config/wireguard",
  // Browsers and mail
  ".mozilla",
  ".thunderbird",
  ".config/google-chrome",
  ".config/google-chrome-beta",
  ".config/chromium",
  ".config/BraveSoftware",
  ".config/microsoft-edge",
  ".config/vivaldi",
  ".config/opera",
  "snap/firefox",
  "snap/chromium",
  ".var/app/org.mozilla.firefox",
  ".var/app/com.google.Chrome",
  ".var/app/org.chromium.Chromium",
  "Library/Application Support/Google/Chrome",
  "Library/Application Support/Firefox",
  "Library/Application Support/BraveSoftware",
  "Library/Application Support/Microsoft Edge",
  "Library/Cookies",
  "Library/Safari",
  // Histories, which hold keys that were typed
  ".bash_history",
  ".zsh_history",
  ".zhistory",
  ".sh_history",
  ".history",
  ".local/share/fish/fish_history",
  ".python_history",
  ".node_repl_history",
  ".psql_history",
  ".mysql_history",
  ".sqlite_history",
  ".rediscli_history",
  ".viminfo",
];

/** Files and directories with secrets of the system; absolute. */
const SECRET_SYSTEM_PATHS: readonly string[] = [
  "/etc/shadow",
  "/etc/shadow-",
  "/etc/gshadow",
  "/etc/gshadow-",
  "/etc/sudoers",
  "/etc/sudoers.d",
  "/etc/ssl/private",
  "/etc/wireguard",
  "/etc/krb5.keytab",
  "/etc/NetworkManager/system-connections",
  "/run/secrets",
  "/var/run/secrets",
];

/** The places that usually hold secrets. */
export const SECRET_PLACES: {
  /** Names of files in any directory, as globs; `!` excludes files. */
  readonly names: readonly string[];
  /** Files and directories in a home directory; relative, with `/`. */
  readonly home: readonly string[];
  /** Files and directories of the system; absolute. */
  readonly system: readonly string[];
} = { names: SECRET_NAMES, home: SECRET_HOME_PATHS, system: SECRET_SYSTEM_PATHS };

/**
 * Globs of the files that tools do not use: {@linkcode SECRET_PLACES}, with the places of a home directory in any
 * directory, since a project may be a home directory or contain a copy of one.
 */
export const PROTECTED_FILES: readonly string[] = [
  ...SECRET_HOME_PATHS.flatMap((path) => [`**/${path}`, `**/${path}/**`]),
  ...SECRET_NAMES,
];

/**
 * Compiles globs of secret files into a matcher for relative paths, without regard to case: on some file systems `.ENV`
 * is `.env`. A glob that begins with `!` excludes its matches from the globs before it. Compiles each list once, when the
 * first path is matched.
 */
export function compileSecretGlobs(globs: readonly string[]): PathMatcher {
  const known = compiledGlobs.get(globs);
  if (known) return known;
  let matchesAny: PathMatcher | undefined;
  let rules: readonly SecretRule[] | undefined;
  const isSecret = (path: string) => {
    const name = path.toLowerCase();
    // Most paths match no glob: one combined check decides them.
    matchesAny ??= compileGlobs(globs.filter((glob) => !glob.startsWith("!")).map(toLowerCase));
    if (!matchesAny(name)) return false;
    rules ??= globs.map(compileRule).reverse();
    return rules.find(({ matches }) => matches(name))?.negated === false;
  };
  compiledGlobs.set(globs, isSecret);
  return isSecret;
}

const compiledGlobs = new WeakMap<readonly string[], PathMatcher>();

interface SecretRule {
  readonly negated: boolean;
  readonly matches: PathMatcher;
}

function compileRule(glob: string): SecretRule {
  const negated = glob.startsWith("!");
  return { negated, matches: compileGlob(toLowerCase(negated ? glob.slice(1) : glob)) };
}

function toLowerCase(text: string): string {
  return text.toLowerCase();
}
