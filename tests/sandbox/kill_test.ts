/**
 * Calls that are cancelled at random moments leave no half-written file and no process.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { seededRandom, TestWorkspace } from "./test_workspace.ts";

const rounds = Deno.env.get("SWINK_PROVE") === "1" ? 400 : 25;
const seed = Number(Deno.env.get("SWINK_SEED") ?? 1);

/** A cancelled call is left behind after 100 ms; the rest is for a machine that is busy. */
const MAX_CANCEL_MS = 400;

/** Living processes whose working directory lies in a folder. */
function findProcesses(folder: string): string[] {
  return [...Deno.readDirSync("/proc")].map(({ name }) => name).filter((name) => {
    try {
      return /^\d+$/.test(name) && Deno.readLinkSync(`/proc/${name}/cwd`).startsWith(folder);
    } catch {
      return false;
    }
  });
}

function listFiles(folder: string): string[] {
  return [...Deno.readDirSync(folder)].flatMap(({ name, isDirectory }) =>
    isDirectory ? listFiles(`${folder}/${name}`) : [`${folder}/${name}`]
  );
}

/** Runs a call and cancels it after a random time; returns how long it took from there. */
async function cancelAfter(
  call: (signal: AbortSignal) => Promise<unknown>,
  afterMs: number,
): Promise<number> {
  const controller = new AbortController();
  const running = call(controller.signal);
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, afterMs);
  await Promise.race([promise, running]);
  clearTimeout(timer);
  const start = performance.now();
  controller.abort();
  await running;
  return performance.now() - start;
}

Deno.test(`kill: edits cancelled at ${rounds} random moments are whole or not made (seed ${seed})`, async () => {
  await using bench = new TestWorkspace();
  const random = seededRandom(seed);
  const before = `${"old line\n".repeat(50_000)}`;
  const after = before.replaceAll("old", "new");
  for (let round = 0; round < rounds; round++) {
    bench.writeFile("file.txt", before);
    await bench.callTool("read_file", { path: "file.txt", limit: 1 });
    const edit = (signal: AbortSignal) =>
      round % 2 === 0
        ? bench.callTool("write_file", { path: "file.txt", content: after }, signal)
        : bench.callTool(
          "edit_file",
          {
            path: "file.txt",
            edits: [{ old_string: "old", new_string: "new", replace_all: true }],
          },
          signal,
        );
    await cancelAfter(edit, random() * 12);
    const now = bench.readFile("file.txt");
    assert(now === before || now === after, "the file is half written");
    assertEquals(listFiles(bench.directory), [`${bench.directory}/file.txt`]);
  }
});

const COMMANDS: readonly string[] = [
  "sleep 30",
  "trap '' TERM INT HUP; while :; do sleep 1; done",
  "sleep 30 & sleep 30 & wait",
  "yes | cat > /dev/null",
  "setsid sleep 30 & sleep 30",
  "(trap '' TERM; setsid bash -c 'trap \"\" TERM; sleep 30' & sleep 30)",
  "for i in 1 2 3 4 5; do sleep 0.001; setsid sleep 30 & done; sleep 30",
  "bash -c 'bash -c \"sleep 30 | sleep 30\"'",
];

Deno.test({
  name: `kill: commands cancelled at ${rounds} random moments leave no process (seed ${seed})`,
  ignore: Deno.build.os !== "linux",
  async fn() {
    await using bench = new TestWorkspace();
    const random = seededRandom(seed + 1);
    for (let round = 0; round < rounds; round++) {
      const command = COMMANDS[Math.floor(random() * COMMANDS.length)] ?? "";
      const call = (signal: AbortSignal) => bench.callTool("bash", { command }, signal);
      const took = await cancelAfter(call, random() * 90);
      assert(took < MAX_CANCEL_MS, `${command} took ${took} ms`);
      assertEquals(findProcesses(bench.directory), [], command);
    }
  },
});

Deno.test(`kill: searches and walks cancelled at random moments end at once (seed ${seed})`, async () => {
  await using bench = new TestWorkspace();
  for (let index = 0; index < 600; index++) {
    bench.writeFile(`d${index % 20}/f${index}`, "some text\n".repeat(200));
  }
  const random = seededRandom(seed + 2);
  for (let round = 0; round < rounds; round++) {
    const search = (signal: AbortSignal) =>
      bench.callTool("search_files", { pattern: "(?=text$)" }, signal);
    assert(await cancelAfter(search, random() * 30) < MAX_CANCEL_MS);
    const list = (signal: AbortSignal) => bench.callTool("list_directory", { depth: 5 }, signal);
    assert(await cancelAfter(list, random() * 10) < MAX_CANCEL_MS);
  }
});
