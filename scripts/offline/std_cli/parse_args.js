// @ts-self-types="./parse_args.d.ts"
export * from "npm:deno-std@^1.4.0/cli/parse_args.js";
