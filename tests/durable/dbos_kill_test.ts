import { seededRandom } from "../../src/testing/seeded_random.ts";
import { POSTGRES_DIRECTORY, startPostgres } from "../memory/postgres_server.ts";
import {
  assertDoneOnce,
  countUnfinished,
  IS_PROOF_RUN,
  MAX_PAUSE_MS,
  pause,
  untilFinished,
  WORKERS,
  Workers,
} from "./kill_workers.ts";

const KILLS = IS_PROOF_RUN ? 300 : 3;
const RUNS = IS_PROOF_RUN ? 50 : 4;
/** Of that many kills, one is that of the Postgres server. */
const KILLS_PER_CRASH = IS_PROOF_RUN ? 15 : 3;
/** Longest pause between two kills, in milliseconds; the runs of a sample are short. */
const PAUSE_MS = IS_PROOF_RUN ? MAX_PAUSE_MS : 500;

const workerPath = new URL("./kill_worker.ts", import.meta.url).pathname;

Deno.test({
  name:
    `DbosEngine: ${RUNS} concurrent runs end, without repeated side effects, when workers and the server are ` +
    `killed at ${KILLS} random points`,
  ignore: POSTGRES_DIRECTORY === undefined,
  fn: async () => {
    const random = seededRandom(17);
    const server = await startPostgres({ durable: true });
    const directory = await Deno.makeTempDir();
    const all: string[] = [];
    try {
      await using workers = new Workers({ path: workerPath, url: server.url, directory });
      let kills = 0;
      for (let generation = 0; kills < KILLS; generation++) {
        const runs = Array.from({ length: RUNS }, (_, index) => `run-${generation}-${index}`);
        all.push(...runs);
        // The first worker creates the tables.
        for (const slot of Array(WORKERS).keys()) {
          await workers.kill(slot);
          await workers.start(slot, runs);
        }
        while (kills < KILLS && await countUnfinished(server) !== 0) {
          await pause(random() * PAUSE_MS);
          const isCrash = ++kills % KILLS_PER_CRASH === 0;
          const slot = Math.floor(random() * WORKERS);
          if (isCrash) await server.crash();
          await workers.kill(slot);
          await workers.start(slot, runs);
        }
        await untilFinished(server, runs);
      }
      await assertDoneOnce(server, directory, new Map(all.map((id) => [id, id])));
    } finally {
      await server.stop();
      await Deno.remove(directory, { recursive: true });
    }
  },
});
