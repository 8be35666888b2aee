// Starts Postgres and two workers, and starts a worker again when it ends.

const PORTS = [8081, 8082];
const VERSIONS = "/usr/lib/postgresql";

/** A database. */
interface Database {
  readonly url: string;
  readonly stop: () => Promise<void>;
}

async function run(command: string, args: readonly string[], options = {}): Promise<void> {
  const { success } = await new Deno.Command(command, { args: [...args], ...options }).output();
  if (!success) throw new Error(`${command} ${args.join(" ")} failed`);
}

function findPrograms(): string | undefined {
  try {
    const versions = Array.from(Deno.readDirSync(VERSIONS), ({ name }) => Number(name));
    return `${VERSIONS}/${Math.max(...versions)}/bin`;
  } catch {
    return undefined;
  }
}

/** Returns the account of Postgres, since the server refuses to run as root. */
function findAccount(): { readonly uid: number; readonly gid: number } | undefined {
  if (Deno.uid() !== 0) return undefined;
  const lines = Deno.readTextFileSync("/etc/passwd").split("\n");
  const [, , uid, gid] = lines.find((line) => line.startsWith("postgres:"))?.split(":") ?? [];
  return { uid: Number(uid), gid: Number(gid) };
}

/** Starts a private server on a socket in a temporary directory; installs it on Debian if it is missing. */
async function startDatabase(): Promise<Database> {
  const install = import.meta.resolve("../../scripts/install_postgres.ts");
  if (!findPrograms()) await run(Deno.execPath(), ["run", "-A", install]);
  const programs = findPrograms();
  const account = findAccount();
  const directory = await Deno.makeTempDir({ prefix: "swink_workers_" });
  if (account) await Deno.chown(directory, account.uid, account.gid);
  const data = `${directory}/data`;
  const options = { cwd: directory, ...account };
  await run(`${programs}/initdb`, ["-D", data, "-A", "trust", "-U", "postgres"], options);
  const server = new Deno.Command(`${programs}/postgres`, {
    args: ["-D", data, "-k", directory, "-c", "listen_addresses="],
    stdin: "null",
    stdout: "null",
    stderr: "null",
    ...options,
  }).spawn();
  while (true) {
    const ready = await new Deno.Command(`${programs}/pg_isready`, {
      args: ["-h", directory],
      stdout: "null",
    }).output();
    if (ready.success) break;
  }
  return {
    url: `postgres:///postgres?host=${directory}&user=postgres`,
    stop: async () => {
      server.kill("SIGQUIT");
      await server.status;
      await Deno.remove(directory, { recursive: true });
    },
  };
}

const given = Deno.env.get("DATABASE_URL");
const database = given === undefined
  ? await startDatabase()
  : { url: given, stop: () => Promise.resolve() };
const directory = await Deno.makeTempDir({ prefix: "swink_notes_" });
const workerModule = import.meta.resolve("./worker.ts");
const workers = new Map<number, Deno.ChildProcess>();
let isStopping = false;

/** Runs a worker, again when it ends. */
async function keepRunning(port: number): Promise<void> {
  const args = ["run", "-A", "--quiet", workerModule, database.url, `${port}`, directory];
  while (!isStopping) {
    const worker = new Deno.Command(Deno.execPath(), { args }).spawn();
    workers.set(port, worker);
    console.log(`worker on port ${port}: process ${worker.pid}`);
    await worker.status;
  }
}

async function stop(): Promise<void> {
  if (isStopping) return;
  isStopping = true;
  for (const worker of workers.values()) worker.kill("SIGTERM");
  await Promise.all([...workers.values()].map(({ status }) => status));
  await database.stop();
  Deno.exit(0);
}

Deno.addSignalListener("SIGINT", stop);
Deno.addSignalListener("SIGTERM", stop);
console.log(`notes: ${directory}/notes.txt`);
await Promise.all(PORTS.map(keepRunning));
