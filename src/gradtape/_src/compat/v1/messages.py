"""SummaryMetadata: the message that says which of TensorBoard's plugins shows a summary."""

from __future__ import annotations

from ...train.summary.wire import message


class PluginData:
    """The name of a plugin, and what it is told."""

    def __init__(self, plugin_name: str = "", content: bytes = b"") -> None:
        self.plugin_name = plugin_name
        self.content = content


class SummaryMetadata:
    """Which plugin shows a summary, under which name, with which description."""

    def __init__(
        self,
        plugin_data: PluginData | None = None,
        display_name: str = "",
        summary_description: str = "",
        data_class: int = 0,
    ) -> None:
        self.plugin_data = plugin_data or PluginData()
        self.display_name = display_name
        self.summary_description = summary_description
        self.data_class = data_class

    PluginData = PluginData

    def SerializeToString(self) -> bytes:
        """The message as it stands in a file."""
        data = self.plugin_data
        return message(
            {
                1: message({1: data.plugin_name, 2: data.content or None}),
                2: self.display_name,
                3: self.summary_description,
                4: self.data_class,
            }
        )
