import { requestJSON } from "./http";

export interface FoundLine {
  line: number;
  text: string;
  cut?: boolean;
  offset?: number;
}

export interface Match extends FoundLine {
  path: string; // absolute
  before?: FoundLine[];
  after?: FoundLine[];
}

export interface Found {
  matches: Match[];
  truncated: boolean;
  partial?: boolean;
  skipped: { binary?: number; links?: number; special?: number };
}

export interface Question {
  q: string;
  fixed?: boolean;
  ignoreCase?: boolean;
  word?: boolean;
  include?: string; // one pattern of names
  exclude?: string;
  context?: number;
  maxMatches?: number;
}

export function search(question: Question, signal: AbortSignal): Promise<Found> {
  return requestJSON<Found>("/search", { query: { ...question }, signal });
}
