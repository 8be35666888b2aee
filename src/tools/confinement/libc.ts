// deno-lint-ignore-file swink/portable -- runs only in Deno

/**
 * Functions of the C library that confine a process, called through Deno's foreign function interface.
 *
 * @module
 */

/** A `struct`, or a NUL-terminated string. */
type Bytes = Uint8Array<ArrayBuffer>;

const SYMBOLS = {
  prctl: { parameters: ["i32", "u64", "u64", "u64", "u64"], result: "i32" },
  prctlBuffer: {
    name: "prctl",
    parameters: ["i32", "u64", "buffer", "u64", "u64"],
    result: "i32",
  },
  open: { parameters: ["buffer", "i32"], result: "i32" },
  close: { parameters: ["i32"], result: "i32" },
  chdir: { parameters: ["buffer"], result: "i32" },
  unshare: { parameters: ["i32"], result: "i32" },
  mount: { parameters: ["buffer", "buffer", "buffer", "u64", "buffer"], result: "i32" },
  dup2: { parameters: ["i32", "i32"], result: "i32" },
  capget: { parameters: ["buffer", "buffer"], result: "i32" },
  capset: { parameters: ["buffer", "buffer"], result: "i32" },
  signal: { parameters: ["i32", "u64"], result: "pointer" },
  sigprocmask: { parameters: ["i32", "buffer", "pointer"], result: "i32" },
  execve: { parameters: ["buffer", "buffer", "buffer"], result: "i32" },
  syscall: { parameters: ["i64", "u64", "u64", "u64", "u64"], result: "i64" },
  syscallBuffer: {
    name: "syscall",
    parameters: ["i64", "buffer", "u64", "u64", "u64"],
    result: "i64",
  },
  syscallRule: {
    name: "syscall",
    parameters: ["i64", "u64", "u64", "buffer", "u64"],
    result: "i64",
  },
  syscallPath: {
    name: "syscall",
    parameters: ["i64", "i64", "buffer", "u64"],
    result: "i64",
  },
  syscallPaths: {
    name: "syscall",
    parameters: ["i64", "i64", "buffer", "i64", "buffer", "u64"],
    result: "i64",
  },
  syscallAttributes: {
    name: "syscall",
    parameters: ["i64", "i64", "buffer", "u64", "buffer", "u64"],
    result: "i64",
  },
  __errno_location: { parameters: [], result: "pointer" },
} as const satisfies Deno.ForeignLibraryInterface;

/** The loaded functions. */
export type Libc = Deno.DynamicLibrary<typeof SYMBOLS>["symbols"];

/** Error number of a path that does not exist. */
export const ENOENT = 2;

/** Loads the C library. */
export function loadLibc(): Libc {
  return Deno.dlopen("libc.so.6", SYMBOLS).symbols;
}

/** Returns the error number of the last failed call. */
export function getErrno(libc: Libc): number {
  const location = libc.__errno_location();
  return location === null ? 0 : new Deno.UnsafePointerView(location).getInt32();
}

/** Encodes a string with a terminating NUL. */
export function toCString(text: string): Bytes {
  return new TextEncoder().encode(`${text}\0`);
}

/** Encodes strings as a null-terminated array of pointers. `buffers` must stay referenced while it is used. */
export function toCStringArray(
  texts: readonly string[],
): { readonly array: Bytes; readonly buffers: Bytes[] } {
  const buffers = texts.map(toCString);
  const pointers = new BigUint64Array(texts.length + 1);
  for (const [index, text] of buffers.entries()) pointers[index] = getAddress(text);
  return { array: new Uint8Array(pointers.buffer), buffers };
}

/** Returns the address of bytes in memory. */
export function getAddress(bytes: Bytes): bigint {
  return Deno.UnsafePointer.value(Deno.UnsafePointer.of(bytes));
}
