import { assert } from "@std/assert";
import { seededRandom } from "../../src/testing/seeded_random.ts";
import {
  assertDoneOnce,
  IS_PROOF_RUN,
  MAX_PAUSE_MS,
  pause,
  untilFinished,
  WORKERS,
  Workers,
} from "../durable/kill_workers.ts";
import { POSTGRES_DIRECTORY, startPostgres } from "../memory/postgres_server.ts";
import { SessionClient } from "./session_client.ts";

const KILLS = IS_PROOF_RUN ? 300 : 2;
const RUNS = IS_PROOF_RUN ? 50 : 4;
/** Of that many kills, one is that of the Postgres server. */
const KILLS_PER_CRASH = IS_PROOF_RUN ? 15 : 2;

/** Longest pause between two kills, in milliseconds; the runs of a sample are short. */
const PAUSE_MS = IS_PROOF_RUN ? MAX_PAUSE_MS : 500;

const path = new URL("./kill_server_worker.ts", import.meta.url).pathname;

Deno.test({
  name:
    `durableRunner(): ${RUNS} clients that connect again get every event once, and no side effect is repeated, when ` +
    `workers and the database are killed at ${KILLS} random points`,
  ignore: POSTGRES_DIRECTORY === undefined,
  fn: async () => {
    const random = seededRandom(19);
    const server = await startPostgres({ durable: true });
    const directory = await Deno.makeTempDir();
    const runs = new Map<string, string>();
    try {
      await using workers = new Workers({ path, url: server.url, directory });
      const addresses: (string | undefined)[] = Array(WORKERS).fill(undefined);
      const start = async (slot: number) => {
        addresses[slot] = undefined;
        await workers.kill(slot);
        const line = await workers.start(slot, []);
        addresses[slot] = `http://127.0.0.1:${line.trim().split(" ")[1]}`;
      };
      // The first worker creates the tables.
      for (const slot of Array(WORKERS).keys()) await start(slot);
      const findWorker = () => {
        const live = addresses.filter((address) => address !== undefined);
        return live[Math.floor(Math.random() * live.length)];
      };
      let kills = 0;
      for (let generation = 0; kills < KILLS; generation++) {
        const clients = Array.from(
          { length: RUNS },
          (_, index) => new SessionClient(`session-${generation}-${index}`, findWorker),
        );
        let unfinished = RUNS;
        const ended = Promise.all(
          clients.map((client) => client.run().finally(() => unfinished--)),
        );
        ended.catch(() => unfinished = 0);
        while (kills < KILLS && unfinished > 0) {
          await pause(random() * PAUSE_MS);
          const isCrash = ++kills % KILLS_PER_CRASH === 0;
          if (isCrash) await server.crash();
          await start(Math.floor(random() * WORKERS));
        }
        await ended;
        await untilFinished(server);
        for (const client of clients) {
          await client.assertComplete();
          runs.set(client.id, client.runId);
        }
        // In a sample, all clients may have read from the worker that was not killed.
        const isInterrupted = clients.some(({ connections }) => connections > 2);
        assert(isInterrupted || !IS_PROOF_RUN, "no client was interrupted");
      }
      await assertDoneOnce(server, directory, runs);
    } finally {
      await server.stop();
      await Deno.remove(directory, { recursive: true });
    }
  },
});
