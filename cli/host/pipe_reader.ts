/**
 * Detection of a pipe whose reader is gone. A write finds that out, but a run may write nothing for minutes.
 *
 * @module
 */

/** Bits of `revents` that `poll()` sets for a pipe without a reader. */
const POLLERR = 0x08;
const POLLHUP = 0x10;

/**
 * Creates a function that returns whether the reader of a file descriptor is gone. Without the permission to call the C
 * library, or without the library, it always returns `false`.
 */
export function createReaderProbe(descriptor: number): () => boolean {
  const poll = loadPoll();
  if (!poll) return () => false;
  // struct pollfd { int fd; short events; short revents; }
  const request = new DataView(new ArrayBuffer(8));
  request.setInt32(0, descriptor, true);
  return () => {
    poll(new Uint8Array(request.buffer), 1n, 0);
    return (request.getInt16(6, true) & (POLLERR | POLLHUP)) !== 0;
  };
}

const LIBRARIES: Partial<Record<typeof Deno.build.os, string>> = {
  linux: "libc.so.6",
  darwin: "libSystem.B.dylib",
};

type Poll = (requests: Uint8Array<ArrayBuffer>, count: bigint, timeoutMs: number) => number;

function loadPoll(): Poll | undefined {
  const library = LIBRARIES[Deno.build.os];
  // A call without the permission would ask for it.
  if (!library || Deno.permissions.querySync({ name: "ffi" }).state !== "granted") return undefined;
  try {
    const parameters = ["buffer", "u64", "i32"] as const;
    return Deno.dlopen(library, { poll: { parameters, result: "i32" } }).symbols.poll;
  } catch {
    return undefined;
  }
}
