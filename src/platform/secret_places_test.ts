import { assertEquals } from "@std/assert";
import { compileSecretGlobs, PROTECTED_FILES, SECRET_PLACES } from "./secret_places.ts";

const isSecret = compileSecretGlobs(PROTECTED_FILES);

const SECRETS: readonly string[] = [
  ...[".npmrc", ".claude/.credentials.json", ".codex/auth.json", ".cargo/credentials"],
  ...[".cargo/credentials.toml", ".m2/settings.xml", ".terraform.d/credentials.tfrc.json"],
  ...[".config/containers/auth.json", ".config/rclone/rclone.conf", ".config/sops/age/keys.txt"],
  ...[".config/github-copilot/hosts.json", ".config/glab-cli/config.yml", ".config/hub"],
  ...[".config/swink/config.json", ".vault-token", ".composer/auth.json", ".bash_history"],
  ...[".mozilla/firefox/x/logins.json", ".config/google-chrome/Default/Login Data"],
  ...["production.env", ".envrc", "config/credentials.json", "release.jks", "a/b.pem", "b.key"],
  ...[".ENV", "sub/.Env.Local", "home/.ssh/id_rsa", "copy/.aws/credentials", ".gnupg/x"],
];

const OTHERS: readonly string[] = [
  ...[".env.example", "sample.env", "environment.ts", "env", "keys.ts", "src/key.ts"],
  ...["credentials.ts", ".config/other", ".cargo/config.toml", ".claude/settings.json"],
  ...[".docker/daemon.json", "pem/x.ts", ".github/workflows/ci.yml"],
];

Deno.test("PROTECTED_FILES: matches the usual places of secrets, in any directory and case", () => {
  assertEquals(SECRETS.filter((path) => !isSecret(path)), []);
});

Deno.test("PROTECTED_FILES: does not match templates and similar names", () => {
  assertEquals(OTHERS.filter(isSecret), []);
});

Deno.test("SECRET_PLACES: paths of a home directory are relative, those of the system absolute", () => {
  assertEquals(SECRET_PLACES.home.filter((path) => /^\/|\/$|[*\\]/.test(path)), []);
  assertEquals(SECRET_PLACES.system.filter((path) => !path.startsWith("/")), []);
});
