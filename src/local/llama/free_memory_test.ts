import { assert, assertEquals } from "@std/assert";
import { type MemorySystem, readFreeMemory } from "./free_memory.ts";

interface Machine extends Partial<MemorySystem> {
  readonly gpu?: string | false;
  readonly free?: number;
  readonly vram?: { readonly free: number; readonly unifiedSize: number };
}

async function read(machine: Machine): Promise<number> {
  const { gpu = false, free = 100, vram = { free: 0, unifiedSize: 0 }, ...system } = machine;
  const llama = {
    gpu,
    getRamState: () => Promise.resolve({ free }),
    getVramState: () => Promise.resolve(vram),
  };
  return await readFreeMemory(llama, { freemem: () => 0, ...system });
}

Deno.test("readFreeMemory(): counts the memory of cached files", async () => {
  assertEquals(await read({}), 100);
  assertEquals(await read({ freemem: () => 500 }), 500);
  const freemem = () => {
    throw new Deno.errors.NotCapable("sys");
  };
  assertEquals(await read({ freemem }), 100);
});

Deno.test("readFreeMemory(): a container limits the memory", async () => {
  const freemem = () => 500;
  const limited = { freemem, constrainedMemory: () => 300, availableMemory: () => 200 };
  assertEquals(await read(limited), 200);
  assertEquals(await read({ freemem, constrainedMemory: () => 300 }), 300);
  assertEquals(await read({ freemem, constrainedMemory: () => 0, availableMemory: () => 1 }), 500);
});

Deno.test("readFreeMemory(): adds the memory of a graphics processor that is not shared", async () => {
  const vram = { free: 1_000, unifiedSize: 300 };
  assertEquals(await read({ gpu: "cuda", vram }), 800);
  assertEquals(await read({ gpu: false, vram }), 100);
  assertEquals(await read({ gpu: "metal", vram: { free: 100, unifiedSize: 300 } }), 100);
});

Deno.test("readFreeMemory(): reads the memory of this machine", async () => {
  const llama = {
    gpu: false,
    getRamState: () => Promise.resolve({ free: 0 }),
    getVramState: () => Promise.reject(new Error("no graphics processor")),
  } as const;
  assert(await readFreeMemory(llama) > 1e6);
});
