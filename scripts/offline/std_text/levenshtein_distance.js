// @ts-self-types="./levenshtein_distance.d.ts"
export * from "npm:deno-std@^1.4.0/text/levenshtein_distance.js";
