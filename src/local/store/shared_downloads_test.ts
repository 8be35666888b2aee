import { assertEquals, assertRejects } from "@std/assert";
import { createDeferred } from "../../core/ports/deferred.ts";
import { shareDownload } from "./shared_downloads.ts";

Deno.test("shareDownload(): callers share the failure of a download, and the next one tries again", async () => {
  const { signal } = new AbortController();
  const downloading = createDeferred<void>();
  let downloads = 0;
  const download = () => {
    downloads++;
    return downloading.promise;
  };
  const calls = [1, 2, 3].map(() =>
    assertRejects(() => shareDownload("model", { signal }, download), Error, "not found")
  );
  downloading.reject(new Error("not found"));
  await Promise.all(calls);
  assertEquals(downloads, 1);
  assertEquals(await shareDownload("model", { signal }, () => Promise.resolve()), true);
});
