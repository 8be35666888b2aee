import { assert, assertEquals } from "@std/assert";
import { ModelStore, type PullOptions } from "../../src/local/mod.ts";
import { CONTENT, createDownload, exists, NAME } from "./download_fixture.ts";

Deno.test("ModelStore: continues a download whose connection is lost", async () => {
  await using download = await createDownload();
  download.hub.behavior = { cutAfter: 20_000 };
  const progress: number[] = [];
  await download.run({ onProgress: ({ receivedBytes }) => progress.push(receivedBytes) });
  assertEquals(await Deno.readFile(download.path), CONTENT);
  const ranges = download.hub.requests.map(({ range }) => range);
  assertEquals(ranges, [null, "bytes=20000-", "bytes=40000-"]);
  assertEquals(download.waits, [1_000, 2_000]);
  assertEquals(progress.at(-1), 50_000);
});

Deno.test("ModelStore: has all attempts again after a connection that has sent a megabyte", async () => {
  const content = new Uint8Array(12_000_000);
  await using download = await createDownload({}, {}, content);
  download.hub.behavior = { cutAfter: 1_500_000 };
  await download.run();
  assertEquals(await Deno.readFile(download.path), content);
  assertEquals(download.waits, Array.from({ length: 7 }, () => 1_000));
});

Deno.test("ModelStore: gives up after six connections without progress, and keeps the part", async () => {
  await using download = await createDownload();
  download.hub.behavior = { cutAfter: 20_000, ignoresRange: true };
  const error = await download.fail();
  assertEquals([error.code, error.retryable], ["network_error", true]);
  assertEquals(download.waits, [1_000, 2_000, 4_000, 8_000, 16_000]);
  assertEquals(await exists(download.path), false);
  const { size } = await Deno.stat(download.part);
  assert(size > 0 && size <= 20_000);
  download.hub.behavior = {};
  const progress: number[] = [];
  await download.run({ onProgress: ({ receivedBytes }) => progress.push(receivedBytes) });
  assertEquals(progress[0], size);
  assertEquals(download.hub.requests.at(-1)?.range, `bytes=${size}-`);
  assertEquals(await Deno.readFile(download.path), CONTENT);
});

Deno.test("ModelStore: waits as long as the hub asks for after a lost connection", async () => {
  await using download = await createDownload();
  const { hub } = download;
  const onCut = () => hub.behavior = { status: 503 };
  hub.behavior = { cutAfter: 20_000, onCut };
  const error = await download.fail();
  assertEquals([error.status, error.retryAfterMs], [503, 7_000]);
  assertEquals(download.waits, [1_000, 7_000, 7_000, 8_000, 16_000]);
  const before = hub.requests.length;
  // A hub that cannot be used at all is reported immediately.
  assertEquals((await download.fail()).status, 503);
  assertEquals(hub.requests.length, before + 1);
  // So is a failure that another attempt does not change.
  hub.behavior = { cutAfter: 20_000, onCut: () => hub.behavior = { status: 404 } };
  assertEquals((await download.fail()).status, 404);
  assertEquals(hub.requests.length, before + 3);
});

Deno.test("ModelStore: an abort ends the wait before another attempt", async () => {
  await using download = await createDownload();
  download.hub.behavior = { cutAfter: 20_000 };
  const controller = new AbortController();
  const store = new ModelStore({
    directory: download.store.directory,
    env: (name) => name === "HF_ENDPOINT" ? download.hub.endpoint : undefined,
    sleep: (_milliseconds, signal) => {
      const ended = new Promise<void>((resolve) =>
        signal?.addEventListener("abort", () => resolve())
      );
      controller.abort("enough");
      return ended;
    },
  });
  const place = await store.find(NAME);
  const error = await store.download(place, { signal: controller.signal }).catch((reason) =>
    reason
  );
  assertEquals(error, "enough");
  assertEquals((await Deno.stat(download.part)).size, 20_000);
});

Deno.test("ModelStore: a listener that throws or rejects fails neither the download nor the process", async () => {
  const listeners: NonNullable<PullOptions["onProgress"]>[] = [
    () => {
      throw new Error("not shown");
    },
    () => Promise.reject(new Error("not shown")),
  ];
  for (const onProgress of listeners) {
    await using download = await createDownload();
    await download.run({ onProgress });
    assertEquals(await Deno.readFile(download.path), CONTENT);
  }
});
