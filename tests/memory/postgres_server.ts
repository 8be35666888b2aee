/**
 * A private Postgres server for tests: on a socket in a temporary directory, without a network port.
 *
 * @module
 */

import pg from "pg";
import type { PostgresClient, PostgresRow } from "../../src/memory/postgres/mod.ts";
import { DEADLINE_MS } from "../deadline.ts";

/** Directory of Debian's packages, with a directory for each version. */
const DEBIAN_DIRECTORY = "/usr/lib/postgresql";

/**
 * Runs the server, again when it was killed, until standard input is closed; then removes its directory. This happens in the
 * background, since Deno kills its child when it exits, and standard input is also closed when Deno itself is killed.
 */
const SUPERVISOR = `
  directory=$1; shift
  run() {
    while [ ! -e "$directory/stopped" ]; do "$@" 2>>"$directory/log"; sleep 0.02; done
  }
  supervise() {
    run "$@" &
    cat >/dev/null
    touch "$directory/stopped"
    while kill -0 $! 2>/dev/null; do
      kill -QUIT "$(head -n 1 "$directory/data/postmaster.pid")" 2>/dev/null
      sleep 0.02
    done
    rm -rf "$directory"
  }
  exec 3<&0
  supervise "$@" <&3 &
  wait
`;

/** Settings of a server whose data need not survive a power failure. */
const FAST_SETTINGS = ["fsync=off", "full_page_writes=off", "synchronous_commit=off"];

/** Options for {@linkcode startPostgres}. */
export interface PostgresServerOptions {
  /** Whether commits are synced to the disk. Default: `false`. */
  readonly durable?: boolean;
}

/** A running server. */
export interface PostgresServer {
  /** URL of its database. */
  readonly url: string;
  /** Runs a statement on a connection of its own. */
  sql(text: string, values?: unknown[]): Promise<readonly PostgresRow[]>;
  /** Sends a signal to the server's main process. */
  signal(signal: Deno.Signal): Promise<void>;
  /** Ends the server with SIGKILL, and waits until it runs again on the same data. */
  crash(): Promise<void>;
  /** Stops the server and removes its directory. */
  stop(): Promise<void>;
}

/** Directory of the server's programs; `undefined` if it is not installed. */
export const POSTGRES_DIRECTORY: string | undefined = findPrograms();

/**
 * Creates a database and starts its server. Since the server refuses to run as root, root runs it in the account
 * `postgres`.
 */
export async function startPostgres(
  { durable = false }: PostgresServerOptions = {},
): Promise<PostgresServer> {
  const account = Deno.uid() === 0 ? readAccount("postgres") : undefined;
  const directory = Deno.makeTempDirSync({ prefix: "swink_postgres_" });
  if (account) Deno.chownSync(directory, account.uid, account.gid);
  await copyDatabase(`${directory}/data`, account);

  const settings = ["listen_addresses=", "shared_buffers=16MB", ...durable ? [] : FAST_SETTINGS];
  const flags = [
    "-D",
    `${directory}/data`,
    "-k",
    directory,
    ...settings.map((text) => `-c${text}`),
  ];
  const supervisor = new Deno.Command("sh", {
    args: ["-c", SUPERVISOR, "sh", directory, `${POSTGRES_DIRECTORY}/postgres`, ...flags],
    cwd: directory,
    stdin: "piped",
    stdout: "null",
    stderr: "null",
    ...account,
  }).spawn();
  const ended = supervisor.status;
  const url = `postgres:///postgres?host=${directory}&user=postgres`;
  const sql = (text: string, values: unknown[] = []) => runStatement(url, text, values);
  const signal = async (name: Deno.Signal) => {
    const pid = (await Deno.readTextFile(`${directory}/data/postmaster.pid`)).split("\n")[0];
    Deno.kill(Number(pid), name);
  };
  await untilReady(directory, 1);
  return {
    url,
    sql,
    signal,
    crash: async () => {
      const starts = await countStarts(directory);
      await signal("SIGKILL");
      await untilReady(directory, starts + 1);
    },
    stop: async () => {
      await supervisor.stdin.close();
      await ended;
    },
  };
}

/** An account of the machine. */
interface Account {
  readonly uid: number;
  readonly gid: number;
}

/**
 * The database that the servers of these tests start with: creating one takes half a second of processor time. It is removed
 * when the tests end.
 */
let template: Promise<string> | undefined;

/** Creates a database at a path by a copy of the template. */
async function copyDatabase(path: string, account: Account | undefined): Promise<void> {
  const source = await (template ??= createTemplate(account));
  await runProgram("cp", { args: ["-R", source, path], cwd: source, ...account });
}

async function createTemplate(account: Account | undefined): Promise<string> {
  const directory = Deno.makeTempDirSync({ prefix: "swink_postgres_template_" });
  globalThis.addEventListener("unload", () => Deno.removeSync(directory, { recursive: true }));
  if (account) Deno.chownSync(directory, account.uid, account.gid);
  const flags = ["-A", "trust", "-U", "postgres", "-E", "UTF8", "--no-locale", "--no-sync"];
  const path = `${directory}/data`;
  await runProgram(`${POSTGRES_DIRECTORY}/initdb`, {
    args: ["-D", path, ...flags],
    cwd: directory,
    ...account,
  });
  return path;
}

async function runProgram(program: string, options: Deno.CommandOptions): Promise<void> {
  const { success, stderr } = await new Deno.Command(program, options).output();
  if (!success) throw new Error(`Cannot create a database: ${new TextDecoder().decode(stderr)}`);
}

function findPrograms(): string | undefined {
  try {
    const versions = Array.from(Deno.readDirSync(DEBIAN_DIRECTORY), ({ name }) => Number(name));
    const directory = `${DEBIAN_DIRECTORY}/${Math.max(...versions)}/bin`;
    return Deno.statSync(`${directory}/initdb`).isFile ? directory : undefined;
  } catch {
    return undefined;
  }
}

function readAccount(name: string): Account {
  const line = Deno.readTextFileSync("/etc/passwd").split("\n")
    .find((line) => line.startsWith(`${name}:`));
  const [, , uid, gid] = line?.split(":") ?? [];
  return { uid: Number(uid), gid: Number(gid) };
}

async function countStarts(directory: string): Promise<number> {
  const log = await Deno.readTextFile(`${directory}/log`).catch(() => "");
  return log.split("ready to accept connections").length - 1;
}

async function untilReady(directory: string, starts: number): Promise<void> {
  const deadline = performance.now() + DEADLINE_MS;
  while (await countStarts(directory) < starts) {
    if (performance.now() > deadline) {
      throw new Error(`The server did not start: ${await Deno.readTextFile(`${directory}/log`)}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

async function runStatement(
  url: string,
  text: string,
  values: unknown[],
): Promise<readonly PostgresRow[]> {
  const client: PostgresClient & { connect(): Promise<void>; end(): Promise<void> } = new pg.Client(
    { connectionString: url },
  );
  await client.connect();
  try {
    return (await client.query(text, values)).rows;
  } finally {
    await client.end();
  }
}
