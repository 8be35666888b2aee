export declare function levenshteinDistance(str1: string, str2: string): number;
