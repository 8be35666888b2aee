import { assertEquals } from "@std/assert";
import { createDeadline } from "../../tests/deadline.ts";

const MODULE = JSON.stringify(new URL("./worker.ts", import.meta.url));

/** Never returns to its event loop, as one that matches an expensive pattern or reads a hostile document. */
const BUSY_WORKER = `import { getParentThread } from ${MODULE};
const parent = getParentThread();
parent.onMessage(() => {
  parent.postMessage("busy");
  for (;;);
});`;

const PROGRAM = `import { startWorker } from ${MODULE};
const worker = startWorker(new URL("./busy.mjs", import.meta.url));
worker.onMessage((message) => {
  console.log(message);
  worker.terminate();
});
worker.postMessage("begin");`;

Deno.test("startWorker(): the program can end after terminate() of a worker that never returns to its event loop", async () => {
  const directory = await Deno.makeTempDir({ prefix: "swink_test_" });
  try {
    await Deno.writeTextFile(`${directory}/busy.mjs`, BUSY_WORKER);
    await Deno.writeTextFile(`${directory}/program.mjs`, PROGRAM);
    const { success, stdout } = await new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        "--allow-read",
        "--quiet",
        "--no-check",
        "--no-config",
        "--no-lock",
        "program.mjs",
      ],
      cwd: directory,
      stdin: "null",
      stderr: "inherit",
      signal: createDeadline(60_000),
    }).output();
    assertEquals({ success, output: new TextDecoder().decode(stdout) }, {
      success: true,
      output: "busy\n",
    });
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});
