/**
 * Languages of files, by name and extension.
 *
 * @module
 */

/** Extensions whose files have the language of another name; other extensions are names of languages themselves. */
const LANGUAGE_BY_EXTENSION: Readonly<Record<string, string>> = {
  bashrc: "bash",
  conf: "properties",
  dockerfile: "dockerfile",
  editorconfig: "ini",
  env: "properties",
  gitconfig: "ini",
  gemspec: "ruby",
  lock: "toml",
  npmrc: "ini",
  profile: "bash",
  svg: "xml",
  webmanifest: "json",
  zshrc: "zsh",
};

/** Languages of files by their whole name, in lower case. */
const LANGUAGE_BY_NAME: Readonly<Record<string, string>> = {
  "containerfile": "dockerfile",
  "deno.lock": "json",
  "dockerfile": "dockerfile",
  "flake.lock": "json",
  "gemfile": "ruby",
  "jenkinsfile": "groovy",
  "nginx.conf": "nginx",
  "package-lock.json": "json",
  "rakefile": "ruby",
};

/** Returns the language of a file, for a highlighter; `undefined` if its name has no extension. */
export function getLanguage(path: string): string | undefined {
  const name = path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1)
    .toLowerCase();
  const byName = LANGUAGE_BY_NAME[name] ??
    (name.startsWith("dockerfile.") ? "dockerfile" : undefined);
  if (byName !== undefined) return byName;
  const dot = name.lastIndexOf(".");
  if (dot < 0) return undefined;
  const extension = name.slice(dot + 1);
  return LANGUAGE_BY_EXTENSION[extension] ?? extension;
}
