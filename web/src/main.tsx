import "./style/tokens.css";
import "./style/base.css";
import "./style/ui.css";
import "./style/frame.css";

import { render } from "preact";

import { App } from "./app";

render(<App />, document.getElementById("app")!);
