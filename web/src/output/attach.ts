import { followStream } from "../api/events";
import { ApiError } from "../api/http";
import { Execution } from "./execution";

/** Stands for the address of an execution while the gateway has not told it. */
export const asked = "asked";

/** Takes up an execution again that an earlier visit began. */
export async function attach(x: Execution, location: string): Promise<void> {
  if (location === asked) return x.fail(new ApiError("The page was left before the gateway had answered: whether this ran is not known", "unknown", 0));
  x.location = location;
  try {
    await followStream(`${location}/events`, 0, {
      onEvent: (e) => x.take(e),
      onConnection: (connected) => (x.connected.value = connected),
    });
    if (x.state.value === "running") x.fail(new ApiError("It has ended meanwhile", "not_found", 404));
  } catch (err) {
    x.fail(err instanceof ApiError && err.status === 404 ? new ApiError("It ended too long ago: what it printed is no longer kept", "not_found", 404) : err);
  }
}
