// @ts-self-types="./merge_readable_streams.d.ts"
export * from "npm:deno-std@^1.4.0/streams/merge_readable_streams.js";
