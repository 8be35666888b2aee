import { assertEquals, assertThrows } from "@std/assert";
import { system } from "../../platform/system.ts";
import { ByteSource } from "./byte_source.ts";

/** Opens a file of numbers of 32 bits, which count up from 0. */
async function withNumbers(count: number, use: (source: ByteSource) => void): Promise<void> {
  const path = await Deno.makeTempFile();
  try {
    const numbers = Uint32Array.from({ length: count }, (_, index) => index);
    await Deno.writeFile(path, new Uint8Array(numbers.buffer));
    using file = await system.open(path);
    use(new ByteSource(file, numbers.byteLength));
  } finally {
    await Deno.remove(path);
  }
}

Deno.test("ByteSource: continues after bytes that are left out, within its buffer and beyond", async () => {
  await withNumbers(300_000, (source) => {
    assertEquals(source.readUint32(), 0);
    for (const [skipped, next] of [[3, 4], [65_000, 65_005], [200_000, 265_006], [0, 265_007]]) {
      source.skip(4 * (skipped ?? 0));
      assertEquals([source.readUint32(), source.position], [next, 4 * ((next ?? 0) + 1)]);
    }
    assertEquals(source.remaining, 4 * (300_000 - 265_008));
    assertThrows(() => source.skip(source.remaining + 1), Error, "the file is incomplete");
    source.skip(source.remaining);
    assertThrows(() => source.readUint32(), Error, "the file is incomplete");
  });
});

Deno.test("ByteSource: reads numbers and texts that cross the end of its buffer", async () => {
  await withNumbers(140_000, (source) => {
    source.skip(4 * 65_535 + 1);
    assertEquals(source.readUint32(), 65_536 * 2 ** 24 % 2 ** 32 + (65_535 >> 8));
    for (let index = 65_537; index < 140_000; index++) {
      const next = (index * 2 ** 24) % 2 ** 32 + ((index - 1) >>> 8);
      assertEquals(source.readUint32(), next);
      if (index > 65_600) break;
    }
  });
});

Deno.test("ByteSource: refuses texts that are too long", async () => {
  await withNumbers(1_000, (source) => {
    assertThrows(() => source.readText(10), Error, "a text is too long");
    assertThrows(() => source.readText(2 ** 50), Error, "the file is incomplete");
  });
});
