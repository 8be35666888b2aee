export declare function mergeReadableStreams<T>(...streams: ReadableStream<T>[]): ReadableStream<T>;
