/**
 * Downloads of models, which need files and hashes of the runtime.
 *
 * @module
 */

import { assertEquals, assertRejects } from "@std/assert";
import { ModelNotFoundError } from "../../../src/core/errors/errors.ts";
import { ModelStore } from "../../../src/local/mod.ts";
import { withDirectory } from "./temporary_directory.ts";

const MODEL = new TextEncoder().encode("GGUF and the rest of a model");
const DIGEST = new Uint8Array(await crypto.subtle.digest("SHA-256", MODEL));
const SHA256 = Array.from(DIGEST, (byte) => byte.toString(16).padStart(2, "0")).join("");

/** A hub that loses its first connection in the middle of the file. */
function createHub(ranges: (string | null)[]): typeof fetch {
  return (input, init) => {
    const { headers } = new Request(input, init);
    const range = headers.get("range");
    ranges.push(range);
    const start = Number(/\d+/.exec(range ?? "0")?.[0]);
    const isFirst = ranges.length === 1;
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(MODEL.slice(start, isFirst ? 10 : undefined));
        if (!isFirst) controller.close();
      },
      pull: (controller) => controller.error(new Error("Connection reset")),
    });
    const end = `${MODEL.length - 1}/${MODEL.length}`;
    return Promise.resolve(
      new Response(body, {
        status: start > 0 ? 206 : 200,
        headers: {
          "content-range": `bytes ${start}-${end}`,
          "x-linked-size": String(MODEL.length),
          "x-linked-etag": `"${SHA256}"`,
        },
      }),
    );
  };
}

Deno.test("library: a download of a model continues its part, and is verified, listed and removed", () =>
  withDirectory(async (directory) => {
    const ranges: (string | null)[] = [];
    const fetch = createHub(ranges);
    const store = new ModelStore({ directory, fetch, sleep: () => Promise.resolve() });
    const place = await store.find("hf:owner/repository/model.gguf");
    await Promise.all([store.download(place), store.download(place)]);
    assertEquals(ranges, [null, "bytes=10-"]);
    assertEquals(await Deno.readFile(place.path), MODEL);
    const [stored] = await store.list();
    assertEquals([stored?.size, await store.listIncomplete()], [MODEL.length, []]);
    await store.remove("hf:owner/repository/model.gguf");
    assertEquals(await store.list(), []);
    await assertRejects(() => store.remove("model"), ModelNotFoundError);
  }));
