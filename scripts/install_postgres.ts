/**
 * Installs Debian's PostgreSQL for the tests in `tests/memory`, and the packages that are its arguments, with one `apt-get`.
 * Packages that are installed are left as they are.
 *
 * The tests create databases of their own, in temporary directories. The one that Debian would create is not.
 *
 * @module
 */

/** Settings for the database that Debian's package creates when it is installed. */
const CLUSTER_SETTINGS = "/etc/postgresql-common/createcluster.conf";

const environment = { DEBIAN_FRONTEND: "noninteractive" };

async function run(command: string, args: string[]): Promise<string | undefined> {
  const { success, stdout, stderr } = await new Deno.Command(command, {
    args,
    env: environment,
    stdin: "null",
  }).output();
  if (!success) console.error(new TextDecoder().decode(stderr));
  return success ? new TextDecoder().decode(stdout) : undefined;
}

async function listInstalled(): Promise<readonly string[]> {
  const list = await run("dpkg-query", ["-W", "-f", "${Package} ${db:Status-Status}\\n"]) ?? "";
  return list.split("\n").flatMap((line) =>
    line.endsWith(" installed") ? line.split(" ")[0] ?? [] : []
  );
}

async function keepFromCreatingDatabase(): Promise<void> {
  await Deno.mkdir(CLUSTER_SETTINGS.replace(/\/[^/]+$/, ""), { recursive: true });
  const options = { createNew: true };
  await Deno.writeTextFile(CLUSTER_SETTINGS, "create_main_cluster = false\n", options)
    .catch(() => undefined); // It exists.
}

/** Installs packages; updates the list of packages only if one cannot be found or downloaded. */
async function install(packages: readonly string[]): Promise<boolean> {
  const args = ["install", "-y", "--no-install-recommends", ...packages];
  if (await run("apt-get", args) !== undefined) return true;
  return await run("apt-get", ["update"]) !== undefined && await run("apt-get", args) !== undefined;
}

if (import.meta.main) {
  const installed = await listInstalled();
  const missing = ["postgresql", ...Deno.args].filter((name) => !installed.includes(name));
  if (missing.includes("postgresql")) await keepFromCreatingDatabase();
  const isComplete = missing.length === 0 || await install(missing);
  console.log(
    isComplete ? `Installed ${missing.join(", ") || "nothing"}` : "Cannot install all packages",
  );
  Deno.exit(isComplete ? 0 : 1);
}
