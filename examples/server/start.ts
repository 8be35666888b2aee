// Starts Postgres, two server processes that share its sessions, and a router in front of them.
//
//     deno run -A examples/server/start.ts
//
// Debian's PostgreSQL is installed if it is missing. Ctrl+C stops everything.

import { Database } from "./database.ts";
import { startRouter, type Worker } from "./router.ts";

const token = Deno.env.get("TOKEN") ?? crypto.randomUUID().replaceAll("-", "");
const database = await Database.start();

/** Starts a process, and again when it ends. */
async function startWorker(name: string): Promise<Worker> {
  const worker: Worker = { name, url: undefined, stop: () => Promise.resolve() };
  let isStopping = false;
  const run = async (): Promise<void> => {
    const child = new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", ...getConfig(), import.meta.resolve("./worker.ts")],
      env: { DATABASE_URL: database.url, TOKEN: token },
      stdout: "piped",
      // Ctrl+C is for this process only, which then stops the others in order.
      detached: true,
    }).spawn();
    const lines = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
    worker.pid = child.pid;
    worker.stop = async () => {
      isStopping = true;
      child.kill("SIGTERM");
      await child.status;
    };
    const { value: port = "" } = await lines.read();
    worker.url = `http://127.0.0.1:${port.trim()}`;
    void child.status.then(async () => {
      worker.url = undefined;
      await lines.cancel();
      if (!isStopping) await run();
    });
  };
  await run();
  return worker;
}

/** Returns the arguments that select the packages of this process. */
function getConfig(): string[] {
  const config = Deno.env.get("CONFIG");
  return config === undefined ? [] : ["--no-lock", "-c", config];
}

const workers = await Promise.all([startWorker("a"), startWorker("b")]);
const router = startRouter(workers, Number(Deno.env.get("PORT") ?? 8787));
const { port } = router.addr;
console.log(`http://127.0.0.1:${port}/#token=${token}`);
console.log(
  `Load test: TOKEN=${token} deno run -A examples/server/load.ts http://127.0.0.1:${port}`,
);
for (const { name, pid } of workers) {
  console.log(`Server ${name} is process ${pid}: kill -9 ${pid}`);
}

await new Promise<void>((resolve) => {
  Deno.addSignalListener("SIGINT", () => resolve());
  Deno.addSignalListener("SIGTERM", () => resolve());
});
await Promise.all(workers.map((worker) => worker.stop()));
await router.shutdown();
await database.stop();
Deno.exit(0);
