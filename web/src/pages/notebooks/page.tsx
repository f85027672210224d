import { Page } from "../../frame/shell";

export default function NotebooksPage() {
  return <Page title="Notebooks">{null}</Page>;
}
