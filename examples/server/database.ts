// A private Postgres server in a temporary directory.

const PACKAGES = "/usr/lib/postgresql";

/** A database with its server. */
export class Database {
  /** The URL for clients. */
  readonly url: string;
  readonly #directory: string;
  readonly #child: Deno.ChildProcess;

  private constructor(directory: string, child: Deno.ChildProcess) {
    this.url = `postgres:///postgres?host=${directory}&user=postgres`;
    this.#directory = directory;
    this.#child = child;
  }

  /** Installs Postgres if it is missing, creates a database and starts its server. */
  static async start(): Promise<Database> {
    const programs = findPrograms() ?? await install();
    const directory = await Deno.makeTempDir({ prefix: "swink_example_" });
    // The server refuses to run as root.
    const account = Deno.uid() === 0 ? findAccount("postgres") : {};
    if (account.uid) await Deno.chown(directory, account.uid, account.gid ?? null);
    await run(`${programs}/initdb`, [
      ...["-D", `${directory}/data`, "-A", "trust", "-U", "postgres", "-E", "UTF8", "--no-locale"],
    ], { cwd: directory, ...account });
    const child = new Deno.Command(`${programs}/postgres`, {
      args: ["-D", `${directory}/data`, "-k", directory, "-c", "listen_addresses="],
      cwd: directory,
      ...account,
      stdout: "null",
      stderr: "piped",
      detached: true,
    }).spawn();
    await untilReady(child);
    return new Database(directory, child);
  }

  /** Stops the server and removes its directory. */
  async stop(): Promise<void> {
    this.#child.kill("SIGINT");
    await this.#child.status;
    await Deno.remove(this.#directory, { recursive: true });
  }
}

function findPrograms(): string | undefined {
  try {
    const versions = Array.from(Deno.readDirSync(PACKAGES), ({ name }) => Number(name));
    const directory = `${PACKAGES}/${Math.max(...versions)}/bin`;
    return Deno.statSync(`${directory}/initdb`).isFile ? directory : undefined;
  } catch {
    return undefined;
  }
}

async function install(): Promise<string> {
  const script = import.meta.resolve("../../scripts/install_postgres.ts");
  await run(Deno.execPath(), ["run", "-A", "--no-config", script], {});
  const programs = findPrograms();
  if (programs) return programs;
  throw new Error("PostgreSQL could not be installed: install it, and start again");
}

function findAccount(name: string): { readonly uid?: number; readonly gid?: number } {
  const line = Deno.readTextFileSync("/etc/passwd").split("\n")
    .find((line) => line.startsWith(`${name}:`));
  const [, , uid, gid] = line?.split(":") ?? [];
  return uid === undefined ? {} : { uid: Number(uid), gid: Number(gid) };
}

async function run(
  command: string,
  args: readonly string[],
  options: Deno.CommandOptions,
): Promise<void> {
  const { success, stderr } = await new Deno.Command(command, { ...options, args: [...args] })
    .output();
  if (!success) throw new Error(`${command}: ${new TextDecoder().decode(stderr)}`);
}

/** Waits until the server accepts connections, and reads its messages from then on. */
async function untilReady({ stderr }: Deno.ChildProcess): Promise<void> {
  const reader = stderr.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  while (!text.includes("ready to accept connections")) {
    const { done, value } = await reader.read();
    if (done) throw new Error(`Postgres did not start: ${text}`);
    text += value;
  }
  void (async () => {
    while (!(await reader.read()).done);
  })();
}
